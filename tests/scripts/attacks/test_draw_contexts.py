"""Shadow contexts of the attacks: which records are drawn, and what a variant changes."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from context_files import draw, variants

from memaudit.common.io import read_grid
from memaudit.config.attacks_section import Variant
from memaudit.config.context_variants import DEFAULTS, variant_name
from memaudit.studies.attacks.shadow_contexts import Contexts

pytestmark = pytest.mark.usefixtures("one_thread")


def test_names_and_defaults_of_variants_are_those_of_the_config():
    assert dict(DEFAULTS) == Variant().model_dump()
    assert variant_name({}) == variant_name(Variant().model_dump()) == "usual"
    assert variant_name({"features": 4, "order": 1, "bags": 1}) == "features 4 order 1"
    assert variant_name({"shares": [0.5, 0.7]}) == "shares 0.5 0.7"


def test_each_member_is_in_half_of_the_contexts_of_every_block_and_no_other_record_is(contexts):
    main = read_grid(contexts / "main.nc")
    counts = main.counts.values.reshape(4, 8, -1).sum(1)
    assert (counts[:, main.member.values] == 4).all()
    assert (counts[:, ~main.member.values] == 0).all()
    assert main.asked.values.all()


def test_an_arm_of_fewer_sets_has_the_first_contexts_of_the_larger_one(contexts):
    """So the same contexts are asked raw and as deployed."""
    few, main = (read_grid(contexts / f"{arm}.nc").counts.values for arm in ("few", "main"))
    assert (few == main[:16]).all()
    again = variants(contexts, "settings", "population 1").counts.values
    assert (again != main[:16]).any()


def test_a_smaller_context_is_half_of_a_smaller_population_and_is_asked_about_it_and_as_many_others(contexts):
    small = variants(contexts, "settings", "context 16")
    assert (small.counts.sum("record") <= 32).all()
    assert float(small.counts.sum("record").mean()) == 16
    inside = small.counts.values.any(0)
    assert inside.sum() == 32
    assert (small["rank"].values[inside] < 32).all()
    assert int(small.asked[0].sum()) == 32 + 24


def test_copies_are_the_targets_alone(contexts):
    copies = variants(contexts, "settings", "copies 5").counts.values
    usual = read_grid(contexts / "few.nc")
    target = (usual["rank"].values >= 0) & (usual["rank"].values < 10)
    assert (copies[:, target] == 5 * usual.counts.values[:, target]).all()
    assert (copies[:, ~target] == usual.counts.values[:, ~target]).all()


def test_features_are_the_first_of_one_random_order(contexts):
    kept = variants(contexts, "settings", "features 4 order 1").columns.values
    assert (kept.sum(1) == 4).all()
    assert (kept == kept[0]).all()


def test_contexts_of_given_shares_are_of_one_size_and_have_them(contexts):
    shares = variants(contexts, "settings", "shares 0.5 0.7")
    table = pd.read_parquet(contexts / "records.parquet").set_index("id").loc[shares.record.values]
    high = (table.alcohol > table.alcohol.median()).to_numpy()
    sizes = shares.counts.sum("record").values
    assert (sizes == sizes[0]).all()
    found = shares.counts.values @ high / sizes
    assert found == pytest.approx(np.where(shares.shown.values, 0.7, 0.5), abs=0.5 / sizes[0])
    assert not (shares.asked.values & shares.member.values).any()


def test_a_sensitive_column_that_is_not_there_is_named(contexts, project):
    for name in ("colour", "target"):  # the target is no column whose value one could try
        said = draw(project, contexts, "wrong", code=1, sensitive=name, variants=[{"shares": [0.5, 0.7]}])
        assert f"attacks/inference/sensitive/wine: the table has no column {name!r}" in said


@pytest.mark.parametrize(
    ("variant", "line"),
    [
        ({"context": 49}, "'context 49': contexts are drawn from 98 members, the table has 96; take smaller ones"),
        ({"context": 4, "bags": 8}, "'bags 8 context 4': [0-7] records in a context; take larger ones"),
    ],
)
def test_a_variant_that_the_table_is_too_small_for_is_refused(contexts, project, variant, line):
    said = draw(project, contexts, "wrong", code=1, variants=[variant])
    assert re.search(f"attacks/arms/wrong/variants, data set wine: {line}", said)


def test_targets_are_members_that_stand_in_the_contexts(contexts):
    """A small context draws from fewer members than there are targets: the others would be outside in every set."""
    design = variants(contexts, "settings", "context 16")
    drawn = Contexts(design, torch.zeros(120, 1), torch.zeros(120), {}, "", 1)
    assert design["rank"].values[drawn.targets(50)].tolist() == list(range(32))
    assert design["rank"].values[drawn.targets(10)].tolist() == list(range(10))
