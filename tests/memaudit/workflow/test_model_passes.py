"""The plan counts the passes of a model by its own family, and the seconds in which a package prepares a context."""

import pytest

from memaudit.models import flops
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


# Family, views, context, columns: CPU seconds of one core with 64 queries and a tiny network.
MEASURED = [
    ("tabpfn", 2, 32, 4, 0.046),
    ("tabpfn", 2, 1000, 20, 0.279),
    ("tabpfn", 8, 32, 20, 0.206),
    ("tabpfn", 8, 1000, 20, 1.153),
    ("tabicl", 2, 32, 4, 0.118),
    ("tabicl", 2, 1000, 20, 0.430),
    ("tabicl", 8, 32, 20, 0.344),
    ("tabicl", 8, 1000, 20, 0.884),
]


@pytest.mark.parametrize(("family", "views", "context", "columns", "measured"), MEASURED)
def test_the_rate_of_preparation_is_near_what_was_measured(family, views, context, columns, measured):
    deployed = passes(family=family, mode="as_deployed", options={"n_estimators": views})
    assert measured / 1.5 < deployed.seconds(context, 64, columns) < 1.5 * measured


def test_loads_add_up():
    model = passes(family="tabpfn", mode="as_deployed")
    load = model.load(3, *SHAPE) + model.load(2, *SHAPE)
    assert load == sum((model.load(1, *SHAPE) for _ in range(5)), Load())
    assert load.operations == 5 * model.operations(*SHAPE)
    assert load.seconds == pytest.approx(5 * model.seconds(*SHAPE))
