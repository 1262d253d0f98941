"""A small random TabICL, and settings of a tiny pre-training run."""

import torch
from tabicl._model.tabicl import TabICL

from memaudit.models.tabicl import TabICLBranch

OPTIMISER = {
    "learning_rate": 0.003,
    "weight_decay": 0.01,
    "momentum": 0.95,
    "newton_schulz_steps": 5,
    "betas": [0.9, 0.98],
    "warmup": 2,
    "decay": 0.5,
    "clip_norm": 1.0,
}
TINY = {
    "seed": 3,
    "steps": 8,
    "validate_every": 4,
    "save_every": 3,
    "validation_batches": 1,
    "architecture": {
        "max_classes": 10,
        "embed_dim": 8,
        "col_num_blocks": 1,
        "col_nhead": 2,
        "col_num_inds": 4,
        "col_feature_group": "valid",
        "col_feature_group_size": 2,
        "col_target_aware": True,
        "col_ssmax": "ssmax-mlp",
        "row_num_blocks": 1,
        "row_nhead": 2,
        "row_num_cls": 2,
        "icl_num_blocks": 1,
        "icl_nhead": 2,
        "icl_ssmax": "ssmax-mlp",
    },
    "prior": {
        "max_classes": 10,
        "binary": 0.5,
        "clip": 6.0,
        "families": {"network": 1, "forest": 1, "additive": 1, "neighbours": 1, "clusters": 1},
        "least_query": 8,
        "query_share": [0.5, 1.0],
        "features_per_token": 2,
        "row_cost": 4,
        "cells": 800,
        "tables": [2, 8],
        "curriculum": [
            {"until": 0.5, "context": [16, 24], "features": 4},
            {"until": 1.0, "context": [16, 48], "features": 8},
        ],
    },
    "optimiser": OPTIMISER,
}


def tabicl(kind):
    """A small random TabICL whose answers vary: no layer starts at zero."""
    sizes = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
    sizes |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}
    head = {"max_classes": 3} if kind == "classification" else {"max_classes": 0, "num_quantiles": 9}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = TabICL(**sizes, **head)
        with torch.no_grad():
            for weight in module.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.1)
    return TabICLBranch(module, "cpu", clip=6.0)
