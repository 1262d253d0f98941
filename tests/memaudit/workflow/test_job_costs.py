"""Unit costs: fitted on a run whose costs are known, and multiplied."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.workflow.job_costs import (
    Cost,
    Line,
    Size,
    cpu_range,
    errors,
    estimate,
    fit,
    measure,
    seconds_of,
    size,
    too_long,
    whole,
)

main = load_script("maintenance_measure_costs").main
START = {"cpu_seconds": 0.5, "wall_seconds": 0.1, "peak_memory_mib": 200}


def sidecar(work, **facts):
    """A job of 2 s and 1 s for each 10 of work, 300 MiB and 1 for each 10, 1,000 bytes and 5 for each."""
    made = {"cpu_seconds": 2 + work / 10, "wall_seconds": work / 100 + 1, "peak_memory_mib": 300 + work / 10}
    return made | {"outputs_bytes": 1000 + 5 * work} | facts


@pytest.fixture
def run():
    """Sizes and sidecars of a finished run, one of its jobs doing nothing."""
    jobs = {"start_up": {"": size(0)}, "lira_ask": {f"wine/{work}": size(work) for work in (10, 40, 100)}}
    sidecars = {f"lira_ask/wine/{work}": sidecar(work) for work in (10, 40, 100)}
    return jobs, {"start_up": START | {"outputs_bytes": 7}} | sidecars


def test_costs_of_another_size_follow_from_those_measured(run):
    units = measure(*run)
    assert units["lira_ask"]["cpu"]["jobs"] == 3
    cost = estimate({"lira_ask": {"a": size(1000), "b": size(2000)}}, units, gpu=[], flops=1e12)["lira_ask"]
    assert cost == Cost(2, pytest.approx(304), 0, 0, pytest.approx(17000), pytest.approx(500), pytest.approx(202))


@pytest.mark.parametrize(
    ("sizes", "values", "line"),
    [
        ([1, 2, 3], [11, 12, 13], Line(10, 1)),
        ([4, 4], [7, 11], Line(1, 2)),
        ([1, 2], [9, 5], Line(1, 16 / 5)),
        ([0, 0], [3, 5], Line(4, 0)),
        ([1, 3], [2, 30], Line(1, 8.8)),
    ],
    ids=["a line", "one size", "a falling line", "nothing to grow with", "a base below the start"],
)
def test_what_cannot_be_told_apart_is_taken_to_grow_with_the_size(sizes, values, line):
    assert fit(sizes, values, start=1) == pytest.approx(line)


def test_a_gpus_hours_are_the_start_up_and_the_operations_at_the_assumed_rate_until_they_are_measured(run):
    jobs, sidecars = run
    plan = {"lira_ask": {"a": size(5e12)}}
    assumed = estimate(plan, measure(jobs, sidecars), gpu=["lira_ask"], flops=1e12)["lira_ask"]
    assert assumed.gpu_seconds == pytest.approx(2 + 5)
    assert assumed.for_gpu == assumed.cpu_seconds
    on_gpu = {name: record | {"device": "cuda"} for name, record in sidecars.items() if name != "start_up"}
    units = measure(jobs, sidecars)
    units["lira_ask"] |= measure(jobs, on_gpu | {"start_up": sidecars["start_up"]})["lira_ask"]
    found = estimate(plan, units, gpu=["lira_ask"], flops=1e12)["lira_ask"]
    assert found.gpu_seconds == pytest.approx(5e12 / 100 + 1)
    assert found.cpu_seconds == assumed.cpu_seconds


def test_the_bytes_of_a_forward_pass_are_no_part_of_the_line(run):
    """A model that is larger than any measured needs its memory though the measured jobs' did not grow."""
    jobs = {"lira_ask": {f"wine/{work}": Size(work, work, 0, 2**30) for work in (10, 40, 100)}}
    units = measure(jobs, {name: one | {"peak_memory_mib": 1324} for name, one in run[1].items()})
    plan = {"lira_ask": {"a": Size(10, 10, 0, 2**31)}}
    assert estimate(plan, units, gpu=[], flops=1e12)["lira_ask"].mebibytes == pytest.approx(300 + 2048)


def test_seconds_that_do_not_grow_with_the_work_are_no_part_of_the_line(run):
    jobs, sidecars = run
    beside = {name: one._replace(seconds=3.0 * one.work) for name, one in jobs["lira_ask"].items()}
    slower = {path: one | {"cpu_seconds": one["cpu_seconds"] + 3 * size} for path, one, size in _by_size(sidecars)}
    units, others = measure({**jobs, "lira_ask": beside}, sidecars | slower), measure(jobs, sidecars)
    assert units["lira_ask"]["cpu"]["seconds"] == pytest.approx(others["lira_ask"]["cpu"]["seconds"])
    assert errors({**jobs, "lira_ask": beside}, sidecars | slower)["lira_ask"]["ratios"] == pytest.approx([1, 1])
    one = {"lira_ask": {"a": Size(1000, 0, 0, seconds=50)}}
    cost = estimate(one, units, gpu=["lira_ask"], flops=1e3)["lira_ask"]
    assert cost.cpu_seconds == pytest.approx(102 + 50)
    assert cost.gpu_seconds == pytest.approx(2 + 1 + 50)
    assert seconds_of(one, units)("lira_ask", "a") == pytest.approx(152)
    # Seconds that were put too high leave what a start costs.
    high = {name: one._replace(seconds=1e6) for name, one in jobs["lira_ask"].items()}
    assert measure({**jobs, "lira_ask": high}, sidecars)["lira_ask"]["cpu"]["seconds"] == pytest.approx((0.5, 0))


def test_bytes_that_are_known_are_no_part_of_the_line_and_a_jobs_state_is_beside_the_bytes_of_outputs(run):
    jobs, sidecars = run
    known = {name: one._replace(stored=100.0 * one.work) for name, one in jobs["lira_ask"].items()}
    larger = {
        path: one | {"outputs_bytes": one["outputs_bytes"] + 100 * size} for path, one, size in _by_size(sidecars)
    }
    units = measure({**jobs, "lira_ask": known}, sidecars | larger)
    assert units["lira_ask"]["cpu"]["bytes"] == pytest.approx((1000, 5))
    plan = {"lira_ask": {"a": size(0, 10, stored=7e9), "b": size(0, 10, state=3e9), "c": size(0, 10, state=2e9)}}
    cost = estimate(plan, units, gpu=[], flops=1e12)["lira_ask"]
    assert cost.bytes == pytest.approx(3 * 1050 + 7e9)
    assert cost.states == 3e9
    assert cost.disk == pytest.approx(3 * 1050 + 10e9)
    # Outputs that take less than was counted are none beside it.
    much = {name: one._replace(stored=1e9) for name, one in known.items()}
    assert measure({**jobs, "lira_ask": much}, sidecars)["lira_ask"]["cpu"]["bytes"] == (0, 0)


def _by_size(sidecars):
    return [(path, one, float(path.rsplit("/")[-1])) for path, one in sidecars.items() if "/" in path]


def test_each_job_is_predicted_from_jobs_of_other_sizes(run):
    """Costs on a line are predicted exactly; of two sizes each is predicted by the other, from the cost of a start."""
    jobs, sidecars = run
    known = {"jobs": 3, "measured": pytest.approx(21), "predicted": pytest.approx(21), "ratios": pytest.approx([1, 1])}
    assert errors(jobs, sidecars) == {"lira_ask": known}
    doubled = sidecars | {"lira_ask/wine/100": sidecar(100, cpu_seconds=24)}
    found = errors(jobs, doubled)["lira_ask"]
    # 10: a line through 40 and 100 lies below a start; 40: on the line through 10 and 100; 100: on that of 10 and 40.
    at_10 = 0.5 + 10 * (40 * 5.5 + 100 * 23.5) / (40**2 + 100**2)
    at_40 = 3 + 30 * (24 - 3) / 90
    assert found["predicted"] == pytest.approx(at_10 + at_40 + (6 + 60 * (6 - 3) / 30))
    two = {"lira_ask": {name: jobs["lira_ask"][name] for name in ("wine/10", "wine/40")}}
    assert errors(two, sidecars)["lira_ask"]["predicted"] == pytest.approx(0.5 + 10 * 5.5 / 40 + 0.5 + 40 * 2.5 / 10)


def test_jobs_without_work_are_not_predicted_but_tell_what_a_start_costs():
    jobs = {"lira_ask": {name: size(work) for name, work in {"a": 0, "b": 0, "c": 10, "d": 30}.items()}}
    seconds = {"a": 5, "b": 5, "c": 6, "d": 8}
    sidecars = {f"lira_ask/{name}": {"cpu_seconds": value} for name, value in seconds.items()}
    found = errors(jobs, sidecars)["lira_ask"]
    assert (found["jobs"], found["measured"], found["predicted"]) == (2, 14, pytest.approx(14))


@pytest.mark.parametrize("facts", [{}, {"device": "cuda"}], ids=["one size", "a GPU's"])
def test_a_rule_with_jobs_of_one_size_or_of_a_gpu_alone_has_no_errors(facts):
    works = (20, 20) if not facts else (20, 40)
    jobs = {"lira_ask": {str(place): size(work) for place, work in enumerate(works)}}
    assert errors(jobs, {f"lira_ask/{place}": sidecar(20, **facts) for place in range(2)}) == {}


def test_a_range_is_as_wide_as_the_errors_of_each_rule():
    costs = {"lira_ask": Cost(1, 100.0), "lira_new": Cost(1, 10.0)}
    off = {"lira_ask": {"ratios": [0.8, 1.25]}, "attacks_ask": {"ratios": [0.5, 2.0]}}
    assert cpu_range(costs, off) == (100 / 1.25 + 10 / 2, 100 / 0.8 + 10 / 0.5)
    assert cpu_range(costs, {}) == (110, 110)


def test_a_rule_that_was_never_measured_counts_as_the_cheapest(run):
    cost = estimate({"attacks_new": {"a": size(9), "b": size(9)}}, measure(*run), gpu=[], flops=1e12)["attacks_new"]
    assert (cost.jobs, cost.cpu_seconds) == (2, pytest.approx(1))


def test_a_job_that_was_resumed_adopted_or_forked_is_no_measure_of_a_whole_one():
    """Its sidecar has the cost of the last process alone."""
    writer = {"host": "a", "pid": 1}
    sidecars = {
        "whole": {"writers": [writer], "adopted": False},
        "light": {},
        "resumed": {"writers": [writer, writer], "adopted": False},
        "adopted": {"writers": [writer], "adopted": True},
        "forked": {"forked": True},
    }
    assert list(whole(sidecars)) == ["whole", "light"]


def test_costs_are_not_measured_from_a_run_whose_jobs_were_forked(tmp_path):
    """Some of its jobs are whole, those that need another Python; they tell nothing of the others."""
    for name, facts in {"one": {"forked": True}, "two": {"forked": True}, "other": {}}.items():
        write_json({"outputs": {}} | facts, tmp_path / f"provenance/rule/{name}.json")
    params = SimpleNamespace(run=tmp_path, known=tmp_path / "costs.json", unit_costs=tmp_path / "costs.json", jobs={})
    with pytest.raises(AuditError, match="of 3 jobs 2 were forked and 1 ran whole, too few"):
        main(SimpleNamespace(params=params))


@pytest.mark.parametrize("facts", [{}, {"adopted": True}], ids=["an output is gone", "no whole job"])
def test_costs_are_not_measured_where_they_cannot_be_told(tmp_path, facts):
    write_json({"outputs": {str(tmp_path / "gone.nc"): "0"}} | facts, tmp_path / "provenance/rule/job.json")
    path = tmp_path / "unit_costs.json"
    params = SimpleNamespace(run=tmp_path, known=path, unit_costs=path, jobs={})
    with pytest.raises(AuditError, match="and 0 ran whole" if facts else r"gone\.nc: gone since its job"):
        main(SimpleNamespace(params=params))


def test_errors_are_of_the_run_that_was_measured_last_and_others_rules_stay(tmp_path):
    """A rule of one size in the new run has no errors then: those of a former run would not be its lines'."""
    path, output = tmp_path / "unit_costs.json", tmp_path / "made.nc"
    output.write_text("12345")
    former = {rule: {"run": "before"} for rule in ("lira_ask", "lira_draw", "attacks_ask")}
    write_json({"measured": {}, "rules": {}, "errors": former}, path)
    jobs = {"lira_ask": {"a": size(10), "b": size(30)}, "lira_draw": {"a": size(0)}}
    facts = {"outputs": {str(output): "0"}, "started": "2026-01-01", "platform": "Linux", "git": None}
    for rule, sizes in jobs.items():
        for name, one in sizes.items():
            write_json(sidecar(one.work, **facts), tmp_path / f"provenance/{rule}/{name}.json")
    params = {"run": str(tmp_path), "known": path, "unit_costs": path}
    main(SimpleNamespace(params=SimpleNamespace(jobs=jobs, **params)))
    written = read_json(path)
    assert written["errors"]["attacks_ask"] == {"run": "before"}
    assert written["errors"].keys() == {"attacks_ask", "lira_ask"}
    assert (written["errors"]["lira_ask"]["run"], written["errors"]["lira_ask"]["jobs"]) == (str(tmp_path), 2)
    assert written["rules"]["lira_ask"]["cpu"]["seconds"] == pytest.approx([2, 0.1])


def test_costs_of_a_study_add_up_but_for_the_largest_job():
    assert Cost(1, 2, 3, 4, 5, 6, 7, 8) + Cost(1, 1, 1, 1, 1, 9, 1, 1) == Cost(2, 3, 4, 5, 6, 9, 7, 8)


def test_a_job_is_known_by_the_name_of_its_sidecar(run):
    seconds = seconds_of(run[0], measure(*run))
    assert seconds("lira_ask", "wine/100") == pytest.approx(12)
    assert seconds("all", "") == pytest.approx(0.5)
    assert seconds_of({}, {})("all", "") == 1


def test_a_job_that_outlasts_its_request_is_named_with_its_minutes():
    units = {"lira_ask": {"cpu": {"seconds": [60, 0.6], "mebibytes": [0, 0], "bytes": [0, 0]}}}
    jobs = {"lira_ask": {"a": size(1000), "b": size(100)}}
    assert too_long(jobs, units, gpu=[], flops=1e12, minutes={"lira_ask": 10, "plan": 1}) == {"lira_ask": 11}
    assert too_long(jobs, units, gpu=[], flops=1e12, minutes={"lira_ask": 12}) == {}
    assert too_long(jobs, units, gpu=["lira_ask"], flops=1e12, minutes={"lira_ask": 2}) == {}
