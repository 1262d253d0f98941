"""From released contexts to answers of PATE students, and their utility."""

import pytest
from conftest import load_script
from tabpate_tables import ARMS, ROLES, Kept, call, files, only, utility

from memaudit.common.io import read_grid

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


@pytest.mark.parametrize("most", [3, 8])
def test_a_killed_job_asks_no_student_twice(world, monkeypatch, most):
    """Killed among the answers of its six students or among the agreements of their labels."""
    releases = [["as_published", 10.0, 0], ["as_published", 10.0, 1]]
    params = {"seed": 1, "delta": 1e-4, "roles": ROLES, "shard": 9, "arms": ARMS, "releases": releases}
    call("tabpate_release_contexts", files(world), [world / "contexts.nc"], **params)
    inputs = files(world, f"contexts={world / 'contexts.nc'}")
    params = {"seed": 1, "roles": ROLES, "repeats": 2, "synthetic": []}
    script, asked = load_script("tabpate_query_students"), []
    predictor = script.predictor

    def counted(*options):
        predict = predictor(*options)
        return lambda contexts, queries: (asked.append(len(queries)), predict(contexts, queries))[1]

    monkeypatch.setattr(script, "predictor", counted)
    call("tabpate_query_students", inputs, [world / "whole.nc"], **params)
    whole, kept = asked.copy(), Kept(most)
    asked.clear()
    with pytest.raises(KeyboardInterrupt):
        call("tabpate_query_students", inputs, [world / "students.nc"], scratch=kept, **params)
    kept.most = 99
    call("tabpate_query_students", inputs, [world / "students.nc"], scratch=kept, **params)
    assert asked == whole
    assert read_grid(world / "students.nc").identical(read_grid(world / "whole.nc"))
