"""The plan counts the passes of a model by its own family, and the seconds in which a package prepares a context."""

import pytest

from memaudit.models import flops
from memaudit.rehearsal.small_tabpfn import SMALL
from memaudit.workflow.model_passes import PREPARATION, Load, Passes

PLAIN = {"family": "tabicl", "version": None, "mode": "raw", "options": {}}
SHAPE = (60, 40, 10)


def passes(**entry):
    return Passes(PLAIN | entry, {}, weights=1000.0)


def test_a_network_is_counted_by_its_family_and_version():
    assert passes().operations(*SHAPE) == flops.tabicl(*SHAPE)
    for version in ("v2", "v2.5", "v2.6", "v3", "v3.5"):
        counted = passes(family="tabpfn", version=version).operations(*SHAPE)
        assert counted == flops.tabpfn(*SHAPE, version) != flops.tabicl(*SHAPE)
    # Two for each weight and token, seven tokens for each cell of context and queries.
    assert passes(family="text").operations(*SHAPE) == 2 * 1000 * 7 * 10 * 100


@pytest.mark.parametrize("family", PREPARATION)
def test_an_ensemble_asks_the_network_once_for_each_view(family):
    raw, deployed = passes(family=family), passes(family=family, mode="as_deployed")
    assert deployed.operations(*SHAPE) == 8 * raw.operations(*SHAPE)
    assert passes(family=family, mode="as_deployed", options={"n_estimators": 2}).operations(*SHAPE) == (
        2 * raw.operations(*SHAPE)
    )
    assert deployed.seconds(*SHAPE) > raw.seconds(*SHAPE) == 0


def test_models_of_other_packages_are_taken_for_a_published_tabicl_and_named():
    assert passes(family="mitra", mode="as_deployed").operations(*SHAPE) == flops.tabicl(*SHAPE)
    counted = {family: passes(family=family).counted for family in ("tabicl", "tabpfn", "text", "mitra", "contexttab")}
    assert counted == {"tabicl": True, "tabpfn": True, "text": True, "mitra": False, "contexttab": False}
    unknown = Passes(PLAIN | {"family": "text"}, {}, weights=0.0)
    assert not unknown.counted
    assert unknown.operations(*SHAPE) == flops.tabicl(*SHAPE)


# Family, views, context, queries, columns: CPU seconds of one core, a tiny network, tables of numbers of which every
# other column is whole, or none.
MEASURED = [
    ("tabpfn", 2, 32, 64, 8, 0.022),
    ("tabpfn", 2, 32, 64, 20, 0.025),
    ("tabpfn", 2, 1000, 64, 20, 0.517),
    ("tabpfn", 2, 6, 5000, 20, 0.337),
    ("tabpfn", 8, 32, 64, 20, 0.075),
    ("tabpfn", 8, 400, 400, 20, 0.536),
    ("tabpfn", 8, 1000, 64, 20, 2.016),
    ("tabpfn", 8, 1000, 4000, 10, 3.386),
    ("tabpfn", 8, 6, 5000, 20, 1.392),
    ("tabicl", 2, 32, 64, 8, 0.039),
    ("tabicl", 2, 1000, 64, 20, 0.106),
    ("tabicl", 8, 32, 64, 20, 0.082),
    ("tabicl", 8, 1000, 64, 20, 0.220),
]
TINY = {
    "tabpfn": SMALL["v2"],
    "tabicl": {"embed_dim": 16, "col_num_blocks": 1, "row_num_blocks": 1, "icl_num_blocks": 2},
}


@pytest.mark.parametrize(("family", "views", "context", "queries", "columns", "measured"), MEASURED)
def test_the_rate_of_preparation_is_near_what_was_measured(family, views, context, queries, columns, measured):
    entry = PLAIN | {"family": family, "mode": "as_deployed", "options": {"n_estimators": views}}
    shape = (context, queries, columns)
    deployed = Passes(entry, TINY[family])
    planned = deployed.seconds(*shape) + 2e-11 * deployed.operations(*shape)
    assert measured / 1.6 < planned < 1.6 * measured


def test_queries_of_an_ensemble_go_apart_unless_each_is_asked_alone():
    assert passes().alone
    assert not passes(family="tabpfn", mode="as_deployed").alone
    assert passes(family="tabpfn", mode="as_deployed", options={"queries": "alone"}).alone
    assert passes(family="tabdpt", mode="as_deployed").alone
    assert not passes(family="mitra", mode="as_deployed").alone


def test_loads_add_up():
    model = passes(family="tabpfn", mode="as_deployed")
    load = model.load(3, *SHAPE) + model.load(2, *SHAPE)
    summed = sum((model.load(1, *SHAPE) for _ in range(5)), Load())
    assert (load.operations, load.seconds) == pytest.approx((summed.operations, summed.seconds))
    assert load.operations == 5 * model.operations(*SHAPE)
    assert load.seconds == pytest.approx(5 * model.seconds(*SHAPE))
    five = model.load(1, *SHAPE).times(5)
    assert (five.operations, five.seconds) == pytest.approx((load.operations, load.seconds))
