"""Faults of the section `ltmia` that its own keys or several keys together have."""

from config_faults import each, refuses

FAULTS = [
    (
        {"ltmia/held_out": [{"models": ["gpt2"], "corpora": ["code-numpy"], "tuning": "full"}]},
        "ltmia/held_out: models gpt2 are also trained on; nothing is then held out",
    ),
    (
        {"ltmia/held_out": [{"models": ["mamba"], "corpora": ["wine"], "tuning": "fast"}]},
        "ltmia/held_out/0/models: unknown language model 'mamba'; did you mean `mamba2`?",
    ),
    (
        {"ltmia/training": [{"models": ["gpt2"], "corpora": ["wine"], "tuning": "full"}]},
        "ltmia/training/0/corpora: wine is no corpus of texts (kind: text)",
    ),
    (
        {"ltmia/training": [{"models": ["gpt2", "gpt2"], "corpora": ["docs-scipy"], "tuning": "full"}]},
        "ltmia: the combination gpt2 docs-scipy full stands twice; name it once",
    ),
    (
        {"ltmia/training": [{"models": ["pythia-1.4b"], "corpora": ["docs-scipy"], "tuning": "full"}]},
        "ltmia/training/0/models: pythia-1.4b has a tokenizer of its own; set ltmia/texts/unit to words",
    ),
    (
        {"ltmia/controls/untrained/tuning": "none"},
        "ltmia/controls/untrained/tuning: none is none of ltmia/tunings: full, strong, lora, untrained, other_texts, ",
    ),
    (
        {"ltmia/shifted/wine": {"members": "docs-scipy", "nonmembers": "docs-pandas"}},
        "ltmia/shifted/wine: a data set has that name; choose another",
    ),
    (
        {"ltmia/diversity/combinations": [1, 30]},
        "ltmia/diversity/combinations: there are 9 combinations in ltmia/training; ask for at most those",
    ),
    ({"ltmia/texts/size": 128}, "ltmia/texts/length: 64 is less than ltmia/texts/size; texts would be cut"),
    ({"ltmia/validation": 0.85}, "ltmia/validation: with ltmia/test it leaves less than a tenth of the texts"),
    (
        {"ltmia/tunings/full/privacy": {"epsilon": 8.0, "delta": 0.01}},
        "ltmia/tunings/full/privacy/delta: 0.01 is more than 1 / members",
    ),
    (
        {"ltmia/diversity/samples": 450},
        "ltmia/diversity/samples: 450 texts of one of 1 combinations are needed, and of 500 there are 400 to train on; "
        "ask for at most 400, or for more of ltmia/texts/parts",
    ),
    (
        {"ltmia/diversity/combinations": [9], "ltmia/diversity/samples": 1500},
        "ltmia/diversity/samples: 500 texts of one of 3 combinations are needed, and of 500 there are 400 to train on; "
        "ask for at most 1200, or for more of ltmia/texts/parts",
    ),
    (
        {
            "ltmia/training": [{"models": ["gpt2"], "corpora": ["docs-scipy", "docs-sympy"], "tuning": "full"}],
            "ltmia/diversity/combinations": [1],
        },
        "ltmia/classifiers/transformer/choice: ltmia/training has 1 models and 2 corpora, and a fold leaves one of",
    ),
    ({"ltmia/shuffles": 2}, "ltmia/shuffles: of 2 classifiers nothing can be said"),
    ({"ltmia/fpr": [0.001]}, "ltmia/fpr: 250 non-members resolve none of them; name one of at least 0.004"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
