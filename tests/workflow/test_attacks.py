"""The study of attacks in the smoke run: its numbers hold together; the paper's stand beside them as its own."""

import math

import numpy as np
import pandas as pd
import pytest
import yaml

from memaudit.attacks.score_matrices import gather
from memaudit.common import tidy
from workflow.conftest import Checkout

pytestmark = pytest.mark.xdist_group("smoke")


@pytest.fixture(scope="module")
def attacks(smoke):
    """Ours and the paper's rows of every attack."""
    scores = smoke.results / "scores/attacks"
    return tidy.shown(*sorted(map(str, [*scores.glob("*/attacks.parquet"), scores / "average.parquet"])))


def test_the_papers_numbers_are_its_own_and_have_no_interval(smoke, attacks):
    paper, ours = attacks[attacks.source == "paper"], attacks[(attacks.source != "paper") & (attacks.metric == "auc")]
    printed = yaml.safe_load((smoke.folder / "config/published.yaml").read_text())["attacks"]
    assert sorted(paper.estimate) == sorted(entry["printed"] for entry in printed)
    assert paper[["low", "high", "null"]].isna().all(axis=None)
    assert not set(paper.model.dropna()) & set(ours.model.dropna())
    assert ours[["low", "high", "null"]].notna().all(axis=None)


def test_all_threat_models_are_attacked_on_the_same_targets_and_their_queries_counted(attacks):
    targets = attacks[(attacks.records == "targets") & (attacks.arm == "main") & attacks.source.isna()]
    labels_alone = {"perturbation", "brainwash", "boundary", "copies correct", "strongest labels"}
    poisons = {"lira poisoned", "chosen poisons", "chosen poisons on labels"}
    assert set(targets[targets.metric == "auc"].attack) == {"lira"} | labels_alone | poisons
    assert set(targets.threat.dropna()) == {
        f"{reads} {does}" for reads in ("label-only", "probabilities") for does in ("passive", "active")
    }
    queries = targets[targets.metric == "queries"].set_index("attack").estimate
    assert (queries[["lira", "lira poisoned"]] == 1).all()
    assert queries["perturbation"] == 5 + 1
    assert 1 <= queries["brainwash"] <= math.log2(8) + 2


def test_a_placebo_finds_nothing(attacks):
    placebo = attacks[(attacks.records == "placebo") & attacks.source.isna()]
    assert not placebo[placebo.metric == "auc detected"].estimate.any(), placebo
    aucs = placebo[placebo.metric == "auc"].set_index("attack")
    assert set(aucs.index) == {"lira", "attention combined"}
    assert (aucs.low < 0.5).all(), aucs
    assert (aucs.high > 0.5).all(), aucs


def test_searches_stay_within_their_bound_of_forward_passes(smoke):
    for arm in ("main", "tabular", "text"):
        grid = gather([str(smoke.results / f"signals/attacks/wine/poisoned/{arm}/0.nc")])
        assert grid.passes.max() <= math.log2(grid.most) + 2
        assert ((grid.copies >= 0) & (grid.copies <= grid.most + 1)).all()
        scanned = grid.scanned.values >= 0
        assert (grid.copies.values == grid.scanned.values)[scanned & (grid.monotone.values == 1)].all()


def test_text_and_table_are_asked_about_the_same_records_in_the_same_contexts(smoke):
    text, table = (gather([str(smoke.results / f"signals/attacks/wine/{arm}/0.nc")]) for arm in ("text", "tabular"))
    assert (text.counts.values == table.counts.values).all()
    assert (np.isnan(text.logits.values) == np.isnan(table.logits.values)).all()
    poisoned = [
        gather([str(smoke.results / f"signals/attacks/wine/poisoned/{arm}/0.nc")]) for arm in ("text", "tabular")
    ]
    assert poisoned[0].record.values.tolist() == poisoned[1].record.values.tolist()
    assert (poisoned[0].design.values == poisoned[1].design.values).all()


def test_the_contexts_of_a_defence_are_those_of_its_baseline_without_the_most_exposed(smoke):
    grid = gather([str(smoke.results / "signals/attacks/wine/defended/0.nc")])
    ranks = pd.read_parquet(smoke.results / "scores/attacks/wine/ranks.parquet").set_index("id")["rank"]
    layer = np.isin(grid.record.values, ranks.index[ranks < math.ceil(0.1 * len(ranks))])
    base, dropped = (
        grid.counts.values[grid.variant.values == f"{name}population 2"] for name in ("", "layer dropped ")
    )
    assert base[:, layer].any(0).all()
    assert (dropped == np.where(layer, 0, base)).all()


def test_each_claim_of_the_paper_has_a_verdict(smoke):
    claims = yaml.safe_load((smoke.folder / "config/claims.yaml").read_text())
    verdicts = pd.read_csv(smoke.results / "tables/attacks_claims.csv")
    assert set(verdicts.id) == {claim["id"] for claim in claims if claim["study"] == "attacks"}
    assert set(verdicts.verdict) <= {"reproduced", "direction only", "not reproduced", "not testable at this scale"}
    larger = verdicts.set_index("id").loc["attacks-larger-tables-leak"]
    assert larger.verdict == "not testable at this scale"


def test_grids_do_not_depend_on_shards(smoke, tmp_path):
    other = Checkout(tmp_path / "memaudit", smoke.given)
    grids = ["poisoned/main/{}.nc", "perturbed/{}.nc"]
    config = other.folder / "config/smoke.yaml"
    config.write_text(config.read_text().replace("shard: 16", "shard: 8"))
    other.snakemake(*(f"results/smoke/signals/attacks/wine/{grid.format(shard)}" for grid in grids for shard in (0, 1)))
    for grid in grids:
        whole = gather([str(smoke.results / f"signals/attacks/wine/{grid.format(0)}")])
        parts = gather([str(other.results / f"signals/attacks/wine/{grid.format(shard)}") for shard in (0, 1)])
        for name in whole.data_vars:
            assert np.array_equal(whole[name].values, parts[name].values, equal_nan=whole[name].dtype.kind == "f"), name
