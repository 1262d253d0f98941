"""From released contexts to answers of PATE students, and their utility."""

import pytest
from tabpate_tables import ARMS, ROLES, call, files, only, utility

pytestmark = pytest.mark.usefixtures("one_thread")


def test_from_release_to_utility(world):
    """The mechanism, its students and their measurement; a label of two nearest records' votes is a coin here."""
    releases = [[arm, 10.0, repeat] for arm in ARMS for repeat in range(2)]
    params = {"seed": 1, "delta": 1e-4, "roles": ROLES, "shard": 9, "arms": ARMS, "releases": releases}
    call("tabpate_release_contexts", files(world), [world / "contexts.nc"], **params)
    students = files(world, f"contexts={world / 'contexts.nc'}")
    call("tabpate_query_students", students, [world / "students.nc"], seed=1, roles=ROLES, repeats=2, synthetic=[])
    found = utility(world, "students")
    counts = found[found["metric"] == "answered"].set_index("arm")["estimate"]
    assert counts.to_dict() == {"as_published": 20, "shown": 20}
    assert only(found, arm="non_private", metric="balanced accuracy")["estimate"] == pytest.approx(0.5, abs=0.25)
