"""Score matrices with attention, and attacks on them: a planted leak is found, other contexts are refused."""

import numpy as np
import pytest
import xarray as xr
from attack_grids import passive

from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.score_matrices import variant
from memaudit.attacks.white_box_scores import joined, white_box
from memaudit.common.errors import AuditError
from memaudit.statistics import roc

RMIA = {"gamma": 1.0}


def seen(grid, gap=1.0, seed=3):
    """A score matrix of attention on the first contexts of another, `gap` deviations higher for members."""
    rng, design = np.random.default_rng(seed), grid.design.values[:16]
    values = rng.normal(size=(*design.shape, len(STATISTICS))) + gap * design[..., None]
    found = grid.isel(model=slice(16))[["design"]].assign_coords(statistic=list(STATISTICS))
    return found.assign(attention=(("model", "record", "statistic"), values.astype(np.float32)))


@pytest.fixture
def answers():
    return variant(passive(np.random.default_rng(0)), "usual")


def test_scores_of_attention_beat_those_of_answers_where_it_tells_more(answers):
    both = joined(answers, seen(answers, gap=3.0))
    assert both.sizes["model"] == 16
    members, others = (both.isel(record=side) for side in (both.member.values, ~both.member.values))
    made = white_box(members, others, RMIA)
    assert list(made) == ["attention", "lira attention", "attention combined"]
    design = members.design.values
    areas = [roc.auc(calibrate(one.signals, design, one.method, **one.options), design) for one in made.values()]
    assert min(areas) > 0.9


def test_attention_of_other_contexts_or_records_is_refused(answers):
    other = seen(answers)
    for wrong in (
        other.assign(design=~other.design),
        other.assign_coords(record=other.record.values[::-1]),
        other.assign_coords(record=[f"x{place}" for place in range(other.sizes["record"])]),
    ):
        with pytest.raises(AuditError, match="attention is of other contexts"):
            joined(answers, wrong)
    assert isinstance(joined(answers, other), xr.Dataset)
