"""Leakage against accuracy of families with planted truth."""

import numpy as np
import pytest
from setting_grids import MEMBERS, auc, design, only, rows_of

from memaudit.attacks.registry import attack
from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_grid
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.strongest_score import Panel, choose
from memaudit.studies.audit.mitigated_answers import Mitigated, gains

ASKED = {"rmia": {"gamma": 1.0, "offline_a": 0.3}}
ARMS = {"main": {"model": "network"}, "other_mode": {"model": "deployed"}}
SETS = 16


@pytest.fixture
def compare(run, tmp_path):
    """Compare families whose signals rise by these gaps where a record is in context; None answers nothing but ties."""

    def call(gaps, seed=0, other=None, arms=ARMS):
        counts = design(SETS, seed)
        named = enumerate(gaps.items())
        grids = {name: rows_of("usual", gap or 0.0, counts, seed=seed + place) for place, (name, gap) in named}
        for name in (name for name, gap in gaps.items() if gap is None):
            grids[name]["logits"] = 0 * grids[name].logits
        main = grids.pop("network")
        write_grid(main, tmp_path / "main.nc")
        inputs = [f"main={tmp_path / 'main.nc'}"]
        if other is not None:
            write_grid(other(main), tmp_path / "other.nc")
            inputs.append(f"other_mode={tmp_path / 'other.nc'}")
        if grids:
            logits = np.stack([grid.logits.values for grid in grids.values()])
            whole = main.drop_vars("logits").assign(logits=(("family", "model", "record", "class"), logits))
            write_grid(whole.assign_coords(family=list(grids)), tmp_path / "families.nc")
            inputs.append(f"families={tmp_path / 'families.nc'}")
        params = {"attacks": ASKED, "arms": arms, "sets": SETS}
        (found,) = run("attacks_compare_families", inputs, ["families.parquet"], **params)
        return tidy.expand(found)

    return call


@pytest.fixture
def planted(compare):
    return compare({"network": 0.5, "memorizer": 6.0, "constant": None})


def test_planted_families_are_told_apart(planted):
    def of(model, metric="auc", records="members"):
        return only(planted, metric, model=model, records=records)

    # One that memorizes leaks all, one that answers always the same nothing.
    assert of("memorizer").estimate > 0.97
    assert of("constant").estimate == 0.5
    assert of("memorizer", "tpr@0.1").estimate > 0.95
    assert (of("memorizer").n, of("memorizer").null) == (SETS * MEMBERS, pytest.approx(0.5, abs=0.02))
    assert of("memorizer", "auc detected").estimate == 1
    assert of("constant", "auc detected").estimate == 0
    assert of("constant", "log loss", "non-members").estimate == pytest.approx(np.log(2))
    assert of("constant", "accuracy", "non-members").estimate == pytest.approx(0.5)
    # Differences are to the model of `main`, on the same entries.
    change = only(planted, "auc difference", model="memorizer")
    assert change.estimate == pytest.approx(of("memorizer").estimate - of("network").estimate)
    assert change.low > 0
    assert not len(planted[(planted["model"] == "network") & planted["metric"].str.endswith("difference")])
    lost = only(planted, "balanced accuracy difference", model="constant")
    assert lost.high < 0
    assert (lost.records, lost.n) == ("non-members", SETS * 24)
    # Members that are drawn again are not detected.
    controls = planted[(planted["records"] == "redrawn") & (planted["metric"] == "auc")]
    assert set(controls["model"]) == {"network", "memorizer", "constant"}
    assert ((controls["low"] <= 0.5) & (controls["high"] >= 0.5)).all()
    # The chosen score is named in each row, and its share told.
    shares = planted[(planted["metric"] == "chosen") & (planted["model"] == "network")]
    assert shares.groupby("criterion")["estimate"].sum().tolist() == [1, 1]
    assert only(shares, "chosen", criterion="auc", score=of("network").score).estimate >= 0.5


def test_the_interval_of_a_paired_difference_covers_the_planted_one():
    """The score of each family is chosen among three; its truth is that of Gaussian signals, which `lira` attains."""
    covered = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        member = membership_matrices.balanced(64, 60, rng, block=8)
        families = [strongest_of(member, gap, rng) for gap in (2.0, 0.5)]
        change, *_ = gains(*families, fprs=[0.1], rng=rng, replicates=100)
        covered += change.low <= auc(2.0) - auc(0.5) <= change.high
    assert covered >= 18


def strongest_of(member, gap, rng):
    """The score chosen among LiRA and two worse ones, of signals that rise by the gap in context."""
    signals = rng.normal(size=member.shape) + rng.normal(size=60) + gap * member
    attacks = {name: attack(name, signals) for name in ("lira", "lira fixed variance", "loss")}
    panel = Panel.of_records(attacks, member, np.arange(60), Scheme("columns", 8))
    return Mitigated.of(panel, np.arange(60), choose(panel, 0.1))


def test_an_arm_on_the_same_contexts_is_a_family(compare):
    same = compare({"network": 1.0}, other=lambda main: main)
    assert only(same, "auc difference", model="deployed").estimate == 0
    assert set(same["model"]) == {"network", "deployed"}


def test_other_contexts_are_an_error(compare):
    with pytest.raises(AuditError, match="toy: deployed has other contexts; make them again"):
        compare({"network": 1.0}, other=lambda main: rows_of("usual", 1.0, design(SETS, 7)))
