"""Settings of a tiny pre-training run of the language model that reads tables, and a small table for it."""

import torch
from small_tabicl import OPTIMISER

from memaudit.models.synthetic_text_tables import Shape

PRIOR = {"families": {"clusters": 1}, "binary": 1.0, "repeated": 0.0, "wrong": 0.0, "categories": 0.0}
TINY = {
    "seed": 3,
    "steps": 6,
    "validate_every": 3,
    "save_every": 4,
    "vocabulary": 512,
    "tokenizer_tables": 60,
    "tokens": 300,
    "other": 0.1,
    "leap": 50,
    "validation": {"rows": 6, "features": 1, "batches": 1},
    "architecture": {
        "hidden_size": 128,
        "intermediate_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 32,
        "max_position_embeddings": 1024,
        "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e12},
    },
    "prior": PRIOR
    | {"curriculum": [{"until": 1.0, "rows": [4, 8], "least": 1, "features": 2, "classes": 3, "apart": [2.0, 4.0]}]},
    "optimiser": OPTIMISER | {"learning_rate": 0.002, "embedding": 0.4, "circuit": 0.1},
}
SHAPE = Shape(6, 2, 3, (3.0, 3.0))
NAN = float("nan")
SCHEMA = {
    "task": "classification",
    "columns": [
        {"name": "age", "type": "numeric"},
        {"name": "work", "type": "categorical", "categories": ["Private", "State gov"]},
        {"name": "since", "type": "date"},
    ],
    "target": {"name": "income", "type": "categorical", "categories": ["no", "not sure", "yes"]},
}
ROWS = torch.tensor([[39, 0, 20000], [0.3, 1, NAN], [123.25, NAN, 0.5], [NAN, 1, 11000], [51, 0, 1], [7, 1, 19999]])
