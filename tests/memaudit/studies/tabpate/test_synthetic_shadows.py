"""Refits with and without a canary: neighbours, one row for each refit, and scores that count the canary's codes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from memaudit.privacy.synthesizers import Synthesizer
from memaudit.studies.tabpate import synthetic_shadows
from memaudit.studies.tabpate.synthetic_shadows import COLUMNS, OFF, RECORDS, neighbour, refits

SYNTHESIZER = Synthesizer("mst", 1.0, 1e-5, 5, 1)


@pytest.fixture
def copying(monkeypatch):
    """A synthesizer without noise that notes its epsilons: it copies the records, and has counted each column."""
    asked = []

    def fitted(self, codes, domain):
        asked.append(self.epsilon)
        counts = [np.bincount(codes[name], minlength=domain[name]) for name in COLUMNS]
        measures = [(None, one, 2.0, None) for one in counts]
        return SimpleNamespace(
            gen=SimpleNamespace(generator=SimpleNamespace(measures=measures)),
            generate=lambda n_records: pd.concat([codes] * (n_records // len(codes))),
        )

    monkeypatch.setattr(Synthesizer, "fitted", fitted)
    monkeypatch.setattr(synthetic_shadows, "ROWS", 10 * (RECORDS + 1))
    return asked


def test_neighbours_differ_in_one_record_that_no_other_is_like():
    inside, outside = neighbour(True), neighbour(False)
    assert inside[:RECORDS].equals(outside)
    assert (outside == 0).all(axis=None)
    assert (inside[RECORDS:] == 1).all(axis=None)
    assert len(inside) == RECORDS + 1


def test_every_condition_has_as_many_refits_with_the_canary_as_without_and_the_control_has_its_noise_off(copying):
    table = refits(SYNTHESIZER, [1.0, 10.0], 3)
    sizes = table.groupby(["epsilon", "noise", "member"]).size()
    assert (sizes == 3).all()
    assert len(sizes) == 6
    assert copying == [1.0] * 6 + [10.0] * 6 + [OFF] * 6
    assert set(table.loc[table["noise"] == "off", "epsilon"]) == {1.0}


def test_scores_count_the_canarys_codes(copying):
    table = refits(SYNTHESIZER, [1.0], 2).groupby("member")
    assert table["synthetic_records"].first().to_dict() == {False: 0, True: 10 * len(COLUMNS)}
    assert table["noisy_counts"].first().to_dict() == {False: 0, True: len(COLUMNS) / 4}


def test_refits_that_were_kept_are_not_made_again_and_each_has_a_name_of_its_own(copying):
    kept = {}

    def part(name, compute):
        if len(kept) == 5 and name not in kept:
            raise KeyboardInterrupt
        return kept.setdefault(name, compute())

    with pytest.raises(KeyboardInterrupt):
        refits(SYNTHESIZER, [1.0, 10.0], 2, part)
    assert len(copying) == 5
    whole = refits(SYNTHESIZER, [1.0, 10.0], 2, lambda name, compute: kept.pop(name) if name in kept else compute())
    assert len(copying) == 12
    assert not kept
    assert whole.equals(refits(SYNTHESIZER, [1.0, 10.0], 2))
