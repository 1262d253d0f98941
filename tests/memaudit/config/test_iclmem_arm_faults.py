"""Settings of one arm of `iclmem` that exclude each other are named by their keys."""

import pytest
from iclmem_settings import settings

from memaudit.config.iclmem_section import iclmem_faults


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"arm": {"placebo": True, "control": "positive"}}, "iclmem/arms/usual/control: a positive control cannot be"),
        ({"arm": {"pairs": "random_contexts"}}, "iclmem/arms/usual/context: missing; random contexts have fewer rows"),
        ({"arm": {"copies": 4}}, "iclmem/arms/usual/copies: all 30 queries are probed"),
        ({"arm": {"copies": 4, "pairs": "random"}}, "iclmem/arms/usual/copies: are of the same queries in all epochs"),
        ({"arm": {"label_smoothing": 0.1}}, "iclmem/arms/usual/label_smoothing: is for classes"),
        (
            {"arm": {"label_smoothing": 0.1, "epochs": [2], "private": {"epsilon": 1.0, "delta": 1e-3}}},
            "iclmem/arms/usual/label_smoothing: is no part of private fine-tuning",
        ),
        ({"arm": {"planted": True}}, "iclmem/arms/usual/planted: is for positive controls on the same queries"),
    ],
)
def test_settings_that_exclude_each_other_are_named(changes, fault):
    assert any(fault in line for line in iclmem_faults(*settings(**changes)))


@pytest.mark.parametrize(
    "arm",
    [
        {"pairs": "random_contexts", "context": 20},
        {"copies": 4, "queries": 35, "datasets": ["diabetes"]},
        {"label_smoothing": 0.1, "datasets": ["wine"]},
        {"planted": True, "control": "positive"},
        {"planted": True, "control": "positive", "pairs": "random_contexts", "context": 20},
    ],
)
def test_settings_that_go_together_have_no_fault(arm):
    section, shared = settings(arm=arm, targets={"queries": 21, "context": 4})
    assert [line for line in iclmem_faults(section, shared) if "/arms/" in line] == []
