"""The scripts of private students on tiny tables: what is measured, averaged, released, attacked and audited."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from conftest import load_script

from memaudit import tidy
from memaudit.data.record_ids import make_key
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_table, write_grid, write_json, write_table
from memaudit.models.model_protocol import Limits
from memaudit.privacy.tabpate_release import Released
from memaudit.privacy.teacher_shards import shards_of
from memaudit.studies.tabpate.private_tables import open_table
from memaudit.studies.tabpate.shadow_students import Remembered
from memaudit.workflow.job import Paths

pytestmark = pytest.mark.usefixtures("one_thread")

FACTS = """source: a test
records: 300
task: {task}
target: {target}
columns:
  age: [-4, 4]
  wage: [-4, 4]
"""
ROLES = {"test": 0.25, "held_out": 0.3, "max_records": None}
ARMS = {
    "as_published": {"method": "tabpate", "held_out": False, "settings": {"queries": 20, "teachers": 4}},
    "shown": {"method": "prompt-pate", "held_out": True, "settings": {"queries": 20, "teachers": 4}},
}
RECORDS = 96


class Neighbour:
    """Each row of the context has a vote, the more the nearer it is: at distance 0 all of them."""

    task, mode, alone, limits = "classification", "raw", True, Limits(None, None, None)

    def logits(self, context_x, context_y, query_x):
        votes = 1 / (torch.cdist(query_x, context_x).square() + 1e-6)
        return torch.log(torch.stack([(votes * (context_y == label)[:, None]).sum(-1) for label in (0, 1)], -1))


def call(name, inputs, outputs, part="0", **params):
    """Run a script's main; part: the wildcard `shard`."""
    job = {"input": Paths(inputs), "output": Paths([str(path) for path in outputs]), "threads": 1, "resources": {}}
    job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(dataset="towns", shard=part)}
    script, scratch = load_script(name), SimpleNamespace(part=lambda name, compute: compute())
    return script.main(SimpleNamespace(**job), *([scratch] if hasattr(script, "resumable") else []))


def results(path):
    return tidy.expand(read_table(path))


def only(table, **keys):
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table) == 1, keys
    return table.iloc[0]


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Labels that nothing predicts, so that only who remembers a record is right about it; two records a unit."""
    for name in ("release_contexts", "ask_students", "release_shadows", "poison_shadows"):
        monkeypatch.setattr(load_script(f"tabpate_{name}"), "load", lambda *_: Neighbour())
    rng = np.random.default_rng(0)
    records = pd.DataFrame(rng.uniform(-4, 4, (RECORDS, 2)), columns=["age", "wage"])
    records["target"] = rng.permutation(np.repeat(["p", "q"], RECORDS // 2))
    records.insert(0, "id", [f"r{i:02d}" for i in range(RECORDS)])
    records.insert(1, "group", [f"u{i // 2:02d}" for i in range(RECORDS)])
    write_table(records, tmp_path / "records.parquet")
    columns = [{"name": name, "type": "numeric"} for name in ("age", "wage")]
    write_json({"task": "classification", "columns": columns}, tmp_path / "schema.json")
    (tmp_path / "towns.yaml").write_text(FACTS.format(task="classification", target='["p", "q"]'))
    write_json({}, tmp_path / "model.json")
    make_key(tmp_path / "key", "a test")
    return tmp_path


def files(folder, *others):
    named = {"records": "records.parquet", "schema": "schema.json", "public": "towns.yaml", "key": "key"}
    return [f"{name}={folder / file}" for name, file in named.items()] + [f"model={folder / 'model.json'}", *others]


# What students are worth.


def answers(folder, name="answers", repeats=2, share=0.9, **changed):
    """Logits of a quarter of the records in each repeat, of which such a share is right."""
    rng = np.random.default_rng(len(name))
    truth, tested = np.arange(RECORDS) % 2, np.arange(RECORDS) < RECORDS // 4
    pairs = changed.pop("pairs", [("as_published", 1.0), ("other", 1.0), ("non_private", np.inf)])
    arms, epsilons, numbers = zip(*((*pair, repeat) for pair in pairs for repeat in range(repeats)), strict=True)
    right = np.array([rng.random(RECORDS) < (0.6 if arm == "as_published" else share) for arm in arms])
    said = np.where(right, truth, 1 - truth)
    logits = np.where(np.arange(2) == said[..., None], 1.0, -np.inf)
    logits[:, ~tested] = np.nan
    coords = {"arm": ("release", list(arms)), "epsilon": ("release", list(epsilons))}
    coords |= {"repeat": ("release", list(numbers)), "record": [f"r{i:02d}" for i in range(RECORDS)]}
    grid = xr.Dataset({"answers": (("release", "record", "class"), logits)}, coords)
    grid["asked"] = ("release", np.arange(len(arms)))
    grid["answered"] = grid.asked // 2
    if name == "answers":
        grid["agreement"] = ("release", np.where(np.isinf(epsilons), np.nan, 0.5 + 0.1 * np.array(numbers)))
    write_grid(grid.assign(**changed), folder / f"{name}.nc")
    return grid, right[:, tested]


@pytest.fixture
def table(tmp_path):
    records = pd.DataFrame({"id": [f"r{i:02d}" for i in range(RECORDS)]})
    records["target"] = np.where(np.arange(RECORDS) % 2, "q", "p")
    write_table(records[::-1], tmp_path / "records.parquet")
    (tmp_path / "towns.yaml").write_text(FACTS.format(task="classification", target='["q", "p"]'))
    return tmp_path


def utility(folder, *names):
    inputs = [f"answers={folder / name}.nc" for name in names]
    inputs += [f"records={folder / 'records.parquet'}", f"public={folder / 'towns.yaml'}"]
    arms = ARMS | {"other": {"method": "dp-sgd"}}
    call("tabpate_measure_utility", inputs, [folder / "utility.parquet"], seed=1, replicates=50, arms=arms)
    return results(folder / "utility.parquet")


def test_every_arm_is_measured_with_its_approach_beside_the_most_frequent_class(table):
    _, right = answers(table)
    found = utility(table, "answers")
    assert set(zip(found["arm"], found["approach"], found["epsilon"], strict=True)) == {
        ("as_published", "tabpate", 1), ("other", "dp-sgd", 1), ("non_private", "non-private", np.inf),
        ("majority", "majority class", np.inf), ("other - as_published", "dp-sgd", 1),
        ("other - non_private", "dp-sgd", 1), ("as_published - non_private", "tabpate", 1),
    }  # fmt: skip
    assert only(found, arm="as_published", metric="accuracy")["estimate"] == pytest.approx(right[:2].mean())
    assert only(found, arm="non_private", metric="accuracy")["estimate"] == pytest.approx(right[4:].mean())
    assert only(found, arm="majority", metric="balanced accuracy")["estimate"] == 0.5
    gap = only(found, arm="other - as_published", metric="accuracy difference")
    assert gap["estimate"] == pytest.approx(right[2:4].mean() - right[:2].mean())
    deviation = only(found, arm="other", metric="accuracy deviation between repeats")
    assert deviation["estimate"] == pytest.approx(right[2:4].mean(1).std(ddof=1))
    assert set(found["study"]) == {"tabpate"}


def test_queries_and_agreement_are_means_over_repeats_of_private_arms(table):
    answers(table)
    answers(table, "more", pairs=[("shown", 10.0)])
    found = utility(table, "answers", "more")
    asked = found[found["metric"] == "asked"].set_index("arm")
    assert asked["estimate"].to_dict() == {"as_published": 0.5, "other": 2.5, "shown": 0.5}
    assert set(asked["unit"]) == {"records"}
    agreement = found[found["metric"] == "agreement"].set_index("arm")["estimate"]
    assert agreement.to_dict() == pytest.approx({"as_published": 0.55, "other": 0.55})


def test_classes_are_in_public_order_whatever_the_records_show(table):
    """Sorted, p before q, though the file of public facts says q, p: logits are in the order of `Public.encode`."""
    answers(table, share=1.0)
    assert only(utility(table, "answers"), arm="other", metric="accuracy")["estimate"] == 1


def test_an_abstention_is_no_right_answer(table):
    grid, _ = answers(table, share=1.0)
    silent = np.where(np.isnan(grid.answers), np.nan, -np.inf)
    answers(table, share=1.0, answers=(grid.answers.dims, silent))
    assert only(utility(table, "answers"), arm="other", metric="accuracy")["estimate"] == 0


def test_answers_that_are_no_numbers_are_named(table):
    grid, _ = answers(table)
    broken = grid.answers.values.copy()
    broken[3, 5, 1] = np.nan
    answers(table, answers=(grid.answers.dims, broken))
    with pytest.raises(AuditError, match="data set towns, arm other, epsilon 1, repeat 1: answers are missing"):
        utility(table, "answers")


def test_numbers_are_measured_by_their_error_and_means_are_taken_by_task(table):
    answers(table)
    (table / "other").mkdir()
    truth = np.arange(RECORDS) / RECORDS
    records = pd.DataFrame({"id": [f"r{i:02d}" for i in range(RECORDS)], "target": truth})
    write_table(records, table / "other/records.parquet")
    (table / "other/towns.yaml").write_text(FACTS.format(task="regression", target="[0, 0.5]"))
    tested = np.arange(RECORDS) % 4 == 0
    said = np.where(tested, [[truth.mean()], [truth.mean()]] * np.ones(RECORDS), np.nan)
    coords = {"arm": ("release", ["as_published", "non_private"]), "epsilon": ("release", [1.0, np.inf])}
    grid = xr.Dataset({"answers": (("release", "record"), said)}, coords | {"record": list(records["id"])})
    grid = grid.assign_coords(repeat=("release", [0, 0])).assign(
        asked=("release", [4, 0]), answered=("release", [4, 0])
    )
    write_grid(grid, table / "other/answers.nc")
    numbers, classes = utility(table / "other", "answers"), utility(table, "answers")
    assert set(numbers["metric"]) == {"nrmse", "nrmse difference", "asked", "answered"}
    assert only(numbers, arm="as_published", metric="nrmse")["estimate"] == pytest.approx(1, abs=0.01)
    assert only(numbers, arm="mean", metric="nrmse")["approach"] == "mean"
    paths = [table / "utility.parquet", table / "again.parquet", table / "other/utility.parquet"]
    first = read_table(paths[0])
    again = first.assign(setting=first["setting"].str.replace("towns", "cities"), estimate=first["estimate"] + 0.1)
    third = read_table(paths[2])
    write_table(again[~again["setting"].str.contains("arm=other,")], paths[1])
    write_table(third.assign(setting=third["setting"].str.replace("towns", "farms")), paths[2])
    printed = {"table": "Table 2", "dataset": "mean", "approach": "tabpate", "epsilon": 10, "metric": "accuracy"}
    inputs = [str(path) for path in paths]
    call("tabpate_average_datasets", inputs, [table / "mean.parquet"], published=[printed | {"printed": 0.712}])
    found = results(table / "mean.parquet")
    here, paper = found[found["source"] == "here"], found[found["source"] == "paper"]
    assert only(paper)["estimate"] == 0.712
    mean = only(here, arm="as_published", metric="accuracy")
    one = only(classes, arm="as_published", metric="accuracy")
    assert mean["estimate"] == pytest.approx(one["estimate"] + 0.05)
    assert (mean["epsilon"], mean["task"], mean["dataset"]) == (1, "classification", "mean")
    low = [one["estimate"] - one["low"], max(0, one["estimate"] + 0.1 - one["low"])]
    assert mean["estimate"] - mean["low"] == pytest.approx(np.linalg.norm(low) / 2)
    assert only(here, arm="as_published", metric="nrmse")["task"] == "regression"
    assert only(here, arm="as_published - non_private", metric="accuracy difference")["null"] == 0
    assert "other" not in set(here["arm"]), "one of the two data sets does not have it"
    assert only(here, arm="as_published", metric="asked", task="regression")["unit"] == "records"


def test_from_release_to_utility(world):
    """The mechanism, its students and their measurement; a label of two nearest records' votes is a coin here."""
    releases = [[arm, 10.0, repeat] for arm in ARMS for repeat in range(2)]
    params = {"seed": 1, "delta": 1e-4, "roles": ROLES, "shard": 9, "arms": ARMS, "releases": releases}
    call("tabpate_release_contexts", files(world), [world / "contexts.nc"], **params)
    students = files(world, f"contexts={world / 'contexts.nc'}")
    call("tabpate_ask_students", students, [world / "students.nc"], seed=1, roles=ROLES, repeats=2, synthetic=[])
    found = utility(world, "students")
    counts = found[found["metric"] == "answered"].set_index("arm")["estimate"]
    assert counts.to_dict() == {"as_published": 20, "shown": 20}
    assert only(found, arm="non_private", metric="balanced accuracy")["estimate"] == pytest.approx(0.5, abs=0.25)


# Students of halves, and attacks on them.


def shadows(folder, name="shadows", part="0", **changed):
    params = {"seed": 1, "sets": 16, "shard": 16, "delta": 1e-4, "roles": ROLES, "arms": ARMS}
    pairs = {"pairs": [["non_private", None], ["as_published", 1.0], ["shown", 1.0]]}
    call("tabpate_release_shadows", files(folder), [folder / f"{name}.nc"], part, **params | pairs | changed)
    return read_grid(folder / f"{name}.nc")


@pytest.fixture
def handed(monkeypatch):
    """What the mechanism is given, which here gives all of it away: records, their units, and draws of its queries."""
    given = []

    def released(entry, private, budget, ask, rng):
        given.append((entry["method"], private, budget, rng.random(3).tolist()))
        return Released(private.x, private.y, 0, 0, {})

    monkeypatch.setattr("memaudit.studies.tabpate.shadow_students.released", released)
    return given


def test_halves_are_balanced_by_unit_and_the_same_for_all_arms(world):
    grid, records = shadows(world), read_table(world / "records.parquet").set_index("id")
    role = open_table(*(world / file for file in ("records.parquet", "schema.json", "towns.yaml", "key"))).roles(
        ROLES, 1, 0
    )
    asked = records.index[np.isin(role, ["private", "test"])]
    assert grid.record.values.tolist() == asked.tolist(), "held-out records are public, and nobody asks about them"
    assert grid.member.values.tolist() == (role == "private")[role != "held out"].tolist()
    whole = grid.design.values
    assert not whole[:, ~grid.member.values].any()
    for arm, rows in pd.Series(grid.arm.values).groupby(grid.arm.values).groups.items():
        design = whole[rows][:, grid.member.values]
        assert np.array_equal(design, whole[::3][:, grid.member.values]), arm
        assert (design[:8].sum(0) == 4).all()
        assert (design[8:].sum(0) == 4).all()
    units = records["group"].loc[grid.record.values].to_numpy()
    for unit in np.unique(units):
        assert (whole[:, units == unit] == whole[:, units == unit][:, :1]).all()
    assert len(np.unique(grid.unit.values)) == len(np.unique(units))
    assert grid["set"].values.tolist() == np.repeat(range(16), 3).tolist()
    assert set(grid.epsilon.values) == {np.inf, 1.0}


def test_the_mechanism_gets_half_the_records_and_the_tables_nominal_number(world, handed):
    grid = shadows(world, pairs=[["as_published", 1.0], ["as_published", 10.0], ["shown", 1.0]])
    assert [method for method, *_ in handed[:3]] == ["tabpate", "tabpate", "prompt-pate"]
    assert {private.public.records for _, private, *_ in handed} == {300}
    design = grid.design.values
    assert [len(private.y) for _, private, *_ in handed] == design.sum(1).tolist()
    records = read_table(world / "records.parquet").set_index("id")
    for inside, (_, private, *_) in zip(design, handed, strict=True):
        assert private.units == records["group"].loc[grid.record.values[inside]].tolist()
        assert len(private.unlabelled) == RECORDS - grid.sizes["record"], "what is public stays public"
    assert {budget.epsilon for *_, budget, _ in handed} == {1.0, 10.0}


def test_queries_are_those_of_the_arm_in_all_sets_and_at_every_epsilon(world, handed):
    shadows(world, pairs=[["as_published", 1.0], ["as_published", 10.0], ["shown", 1.0]])
    draws = {method: {tuple(draw) for name, *_, draw in handed if name == method} for method, *_ in handed}
    assert {method: len(found) for method, found in draws.items()} == {"tabpate": 1, "prompt-pate": 1}
    assert draws["tabpate"] != draws["prompt-pate"]


def test_nothing_depends_on_the_shard(world, handed):
    whole = shadows(world)
    parts = [shadows(world, part, part, shard=6) for part in ("0", "1", "2")]
    assert [part.sizes["release"] for part in parts] == [18, 18, 12]
    joined = xr.concat(parts, "release", data_vars="minimal", coords="minimal", combine_attrs="override")
    xr.testing.assert_equal(joined, whole)


def test_the_first_sets_of_more_are_the_same(world, handed):
    xr.testing.assert_equal(shadows(world, "more", sets=24).isel(release=slice(48)), shadows(world))


def test_sets_that_are_no_whole_blocks_and_number_targets_are_refused(world):
    with pytest.raises(AuditError, match="20 shadow sets are no whole blocks; take a multiple of 8"):
        shadows(world, sets=20)
    records = read_table(world / "records.parquet")
    write_table(records.assign(target=np.arange(RECORDS) / RECORDS), world / "records.parquet")
    (world / "towns.yaml").write_text(FACTS.format(task="regression", target="[0, 1]"))
    with pytest.raises(AuditError, match="data set towns: the target is a number"):
        shadows(world)


def test_what_is_asked_again_is_remembered_and_said_in_order():
    asked = []

    def ask(contexts, queries):
        asked.append(len(contexts))
        return np.stack([np.full((len(queries), 2), x.sum() + y.sum()) for x, y in contexts])

    known, queries = Remembered(ask), np.zeros((3, 2), dtype=np.float32)
    one, two, same = ((np.full((2, 2), fill, dtype=np.float32), np.arange(2)) for fill in (1, 2, 1))
    assert known([one, two, same], queries)[:, 0, 0].tolist() == [5, 9, 5]
    assert known([two, one], queries)[:, 0, 0].tolist() == [9, 5]
    assert asked == [2]
    assert known([one], queries[:2]).shape == (1, 2, 2)
    assert known([(one[0], one[1][::-1])], queries).shape == (1, 3, 2)
    assert asked == [2, 1, 1], "other queries, or labels in another order, are another question"


def attack(folder, *inputs):
    outputs = [f"tidy={folder / 'tidy.parquet'}", f"roc={folder / 'roc.parquet'}"]
    params = {"seed": 1, "delta": 1e-5, "fpr": [0.1], "replicates": 30, "permutations": 19}
    call("tabpate_attack_students", list(inputs), outputs, **params)
    return results(folder / "tidy.parquet"), results(folder / "roc.parquet")


def test_a_model_that_remembers_leaks_and_its_private_students_do_not(world):
    """At distance 0 a neighbour has all votes: who is in the context is right about itself, else a coin is."""
    found, roc = attack(world, *(f"shadows={halved(shadows(world), world, i)}" for i in (1, 0)))
    auc = found[(found["metric"] == "auc") & (found["attack"] == "lira")]
    leak = only(auc, arm="non_private", records="members")
    assert leak["estimate"] > 0.95
    assert leak["epsilon"] == np.inf
    for arm in ("as_published", "shown"):
        private = only(auc, arm=arm, records="members")
        # The noise has no seed: five deviations of 0.035.
        assert private["estimate"] == pytest.approx(0.5, abs=0.17)
        gap = only(found, arm=f"{arm} - non_private", records="members", metric="auc difference")
        assert gap["estimate"] == pytest.approx(private["estimate"] - leak["estimate"])
        assert gap["high"] < -0.2
        assert only(found, arm=arm, metric="epsilon lower bound")["estimate"] < 1
    assert only(found, arm="non_private", metric="epsilon lower bound")["estimate"] > 1.5
    placebo = auc[auc["records"] == "placebo"]
    assert len(placebo) == 3
    assert (placebo["estimate"] - 0.5).abs().max() < 0.2
    assert (placebo["n"] == 16 * (~read_grid(world / "shadows.nc").member.values).sum()).all()
    assert set(zip(roc["arm"], roc["epsilon"], roc["records"], strict=True)) == {
        ("non_private", np.inf, "members"), ("as_published", 1, "members"), ("shown", 1, "members"),
    }  # fmt: skip
    assert len(roc) == 3 * 31


def test_a_student_that_rests_on_no_record_is_a_coin(world, monkeypatch):
    rng = np.random.default_rng(0)
    context = rng.uniform(-4, 4, (20, 2)).astype(np.float32), np.arange(20) % 2
    monkeypatch.setattr("memaudit.studies.tabpate.shadow_students.released", lambda *_: Released(*context, 20, 20, {}))
    shadows(world, pairs=[["as_published", 1.0]])
    found, _ = attack(world, f"shadows={world / 'shadows.nc'}")
    assert only(found, metric="auc", records="members")["estimate"] == 0.5
    assert only(found, metric="tpr@0.1", records="members")["estimate"] == pytest.approx(0.1)
    assert only(found, metric="epsilon lower bound")["estimate"] == 0


def test_methods_that_answer_themselves_are_attacked_too(world):
    """Query-Time says a label for each record; a network of DP-SGD is trained anew on each set."""
    asked = {"method": "query-time", "held_out": False, "settings": {"teachers": 4}}
    trained = {"method": "dp-sgd", "held_out": False, "settings": {"steps": 2}}
    both = {"arms": {"asked": asked, "trained": trained}, "pairs": [["asked", 1.0], ["trained", 1.0]]}
    grid = shadows(world, sets=8, shard=8, **both)
    said, network = (grid.logits.values[grid.arm.values == arm] for arm in ("asked", "trained"))
    assert (np.isfinite(said).sum(-1) == 1).all()
    assert np.isfinite(network).all()
    assert len({one.tobytes() for one in network}) == 8


def halved(grid, folder, part):
    path = folder / f"half-{part}.nc"
    write_grid(grid.isel(release=slice(part * 24, (part + 1) * 24)), path)
    return path


def test_sets_that_are_missing_are_named(world):
    grid = shadows(world)
    write_grid(grid.isel(release=np.arange(grid.sizes["release"]) != 4), world / "short.nc")
    with pytest.raises(AuditError, match="arm as_published, epsilon 1: 15 of 16 shadow sets"):
        attack(world, f"shadows={world / 'short.nc'}")


def poisoned(folder, **changed):
    params = {"seed": 1, "sets": 8, "shard": 8, "delta": 1e-4, "roles": ROLES, "arms": ARMS}
    params |= {"targets": 5, "budgets": [1, 2, 4], "pairs": [["non_private", None]]}
    call("tabpate_poison_shadows", files(folder), [folder / "poisoned.nc"], **params | changed)
    return read_grid(folder / "poisoned.nc")


def test_a_member_stands_against_one_copy_and_others_against_none(world):
    """Its own vote and one copy's are equal, and the lower class wins; two copies always do."""
    grid = poisoned(world)
    inside, wrong, own = grid.design.values, grid.wrong.values, np.broadcast_to(grid.label.values, grid.design.shape)
    assert grid.budget.values.tolist() == [0, 1, 2, 4]
    assert (grid.poison_label.values == 1 - grid.label.values).all()
    assert not wrong[inside][:, 0].any()
    assert wrong[inside & (own == 0)][:, 1].mean() < 0.5
    assert wrong[inside][:, 2:].all()
    assert wrong[~inside][:, 1:].all()
    assert grid.sizes["record"] == 10, "units of two records are targets together"
    shown = shadows(world, sets=8)
    assert np.array_equal(shown.design.sel(record=grid.record).values[::3], inside), "the sets of the other attack"


def test_copies_are_units_of_their_own_and_leave_the_other_shards_as_they_are(world, handed):
    grid = poisoned(world, pairs=[["as_published", 1.0]], budgets=[3])
    known = [private.units for _, private, *_ in handed]
    assert len(known) == 8 * grid.sizes["record"] * 2
    without, with_copies = known[::2], known[1::2]
    for before, after in zip(without, with_copies, strict=True):
        assert after[: len(before)] == before
        assert len(set(after) - set(before)) == 3
    shards = shards_of(known[1], b"a test", 4)
    assert np.array_equal(shards[:-3], shards_of(known[0], b"a test", 4))
    assert len(set(shards_of([f"copy {i} of r00" for i in range(30)], b"a test", 4))) == 4


def test_brainwash_on_students_is_judged_beside_lira(world):
    grid = poisoned(world, sets=16, shard=16)
    grid.wrong[:, 0] = False
    write_grid(grid, world / "poisoned.nc")
    shadows(world, pairs=[["non_private", None]])
    found, _ = attack(world, f"shadows={world / 'shadows.nc'}", f"poisoned={world / 'poisoned.nc'}")
    auc = only(found, attack="brainwash", metric="auc")
    assert (auc["records"], auc["arm"]) == ("targets", "non_private")
    assert auc["estimate"] > 0.8
    assert only(found, attack="brainwash", metric="censored")["estimate"] == pytest.approx(0.1)
    needless = grid.wrong.values[..., 0].mean()
    assert only(found, attack="brainwash", metric="already wrong")["estimate"] == pytest.approx(needless)


def test_the_audit_tells_half_the_noise_from_all_of_it(tmp_path):
    call("tabpate_audit_mechanism", [], [tmp_path / "audit.parquet"], runs=5000)
    found = results(tmp_path / "audit.parquet")
    bound = found[found["metric"] == "mu lower bound"].set_index("noise")["estimate"]
    stated = only(found, noise="stated", metric="mu stated")["estimate"]
    assert stated == pytest.approx(np.sqrt(2) / 5.2)
    assert 0.03 < bound["stated"] < 1.1 * stated
    assert bound["halved"] == pytest.approx(0.47, abs=0.12)
    assert only(found, noise="halved", metric="refuted")["estimate"] == 1
    rates = found[found["noise"] == "stated"].set_index("metric")["estimate"]
    assert rates["audited tpr"] + rates["audited fpr"] == pytest.approx(1, abs=0.05)
