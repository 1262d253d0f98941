"""Answers of shadow contexts about records: by shard, by layer, by variant."""

import pandas as pd
import pytest
from context_files import asked

from memaudit.attacks.score_matrices import gather, variant
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid
from memaudit.studies.attacks.shadow_contexts import open_contexts

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_record_is_answered_by_its_own_copy_in_every_context_that_has_it(contexts, project):
    grid = variant(asked(project, contexts, "main"), "usual")
    right = grid.logits.values.argmax(-1) == grid.label.values
    assert right[grid.design.values].all()
    assert not right[~grid.design.values].all()
    assert grid.attrs["mode"] == "raw"


def test_answers_do_not_depend_on_the_shards(contexts, project):
    whole, parts = asked(project, contexts, "defended"), asked(project, contexts, "defended", shard=7, name="parts")
    assert whole.drop_attrs().identical(parts.drop_attrs())


def test_an_arm_takes_its_own_number_of_the_contexts_that_another_has_drawn(contexts, project):
    """Arms with the same variants share their draws: answers are those of contexts that the arm draws itself."""
    shared = asked(project, contexts, "few", name="shared", design="main")
    assert shared.identical(asked(project, contexts, "few"))
    assert (shared.sizes["model"], shared.attrs["arm"]) == (16, "few")


def test_too_few_drawn_contexts_are_an_error(contexts):
    files = [str(contexts / name) for name in ("records.parquet", "schema.json", "few.nc", "model.json")]
    with pytest.raises(AuditError, match=r"few\.nc: 16 contexts are drawn and 32 needed; draw more"):
        open_contexts(*files, threads=1, sets=32)


def test_layers_leave_the_contexts_and_the_rest_stays(contexts, project):
    grid = (
        gather([str(contexts / "defended-0.nc")])
        if (contexts / "defended-0.nc").exists()
        else asked(project, contexts, "defended")
    )
    base = variant(grid, "population 2").counts.values
    rank = pd.read_parquet(contexts / "ranks.parquet").set_index("id")["rank"].reindex(grid.record.values).to_numpy()
    exposed = rank < 10
    dropped, random = (variant(grid, f"layer {name} population 2").counts.values for name in ("dropped", "random"))
    assert (dropped[:, exposed] == 0).all()
    assert (dropped[:, ~exposed] == base[:, ~exposed]).all()
    gone = (random == 0).all(0) & base.any(0)
    assert gone.sum() == 10
    assert not (gone & exposed).any()
    coarse = variant(grid, "layer coarsened population 2")
    assert (coarse.counts.values == base).all()
    right = (coarse.logits.values.argmax(-1) == coarse.label.values)[coarse.design.values & exposed]
    assert right.mean() < 1


def test_variants_that_a_grid_does_not_have_are_named(contexts):
    grid = read_grid(contexts / "few.nc")
    with pytest.raises(AuditError, match="variant 'copies 2' of wine is not in the grid; it has: usual"):
        variant(grid, "copies 2")
