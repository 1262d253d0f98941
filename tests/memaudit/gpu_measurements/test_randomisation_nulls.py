"""The timed null is LiRA's own, of a grid's shape."""

from types import SimpleNamespace

import numpy as np
import pytest

from memaudit.gpu_measurements import randomisation_nulls
from memaudit.gpu_measurements.resumable_parts import Setup

SETUP = Setup("cpu", True, 60.0)


def test_a_null_has_the_shape_of_the_grid_and_the_mean_of_chance():
    (case,) = randomisation_nulls.cases(smallest=True)
    found = case.measure(SETUP)
    assert case.facts["sizes"] == {"models": 32, "records": 40, "draws": 19}
    assert found["seconds_per_redraw"] == pytest.approx(found["seconds"] / 19)
    (published,) = randomisation_nulls.cases(smallest=False)
    assert published.facts["sizes"] == {"models": 4096, "records": 10_000, "draws": 19}


def test_a_null_away_from_chance_is_an_error(monkeypatch):
    far = SimpleNamespace(values=np.full((19, 4), 0.7))
    monkeypatch.setattr(randomisation_nulls, "randomisation_null", lambda *_, **__: far)
    with pytest.raises(ValueError, match=r"not 0\.5"):
        randomisation_nulls.cases(smallest=True)[0].measure(SETUP)
