"""Faults of the texts that the targets of `ltmia` train on and are attacked with."""

from config_faults import each, refuses

FAULTS = [
    (
        {"datasets/code-numpy/characters": 49000},
        "datasets/code-numpy/characters: 550 texts of ltmia/texts/parts take 35200 characters at the least, and 34300",
    ),
    (
        {"ltmia/texts/documents": 501},
        "ltmia/texts/documents: 500 members and non-members cannot come from 501 documents; ask for fewer documents",
    ),
    (
        {"ltmia/training": [{"models": ["gpt2"], "corpora": ["docs-scipy"], "tuning": "other_texts"}]},
        "ltmia/training/0/tuning: other_texts does not train on members; only ltmia/controls may take it",
    ),
    (
        {"ltmia/controls/other_members/corpora": ["shifted"]},
        "ltmia/controls/other_members/corpora: shifted has non-members of another corpus and is no null",
    ),
    (
        {"ltmia/tunings/other_texts/privacy": {"epsilon": 8.0, "delta": 0.001}},
        "ltmia/tunings/other_texts/trains_on: a guarantee is for members; leave privacy or trains_on out",
    ),
    (
        {"ltmia/tunings/full/trains_on": "none"},
        "ltmia/tunings/full/trains_on",
    ),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
