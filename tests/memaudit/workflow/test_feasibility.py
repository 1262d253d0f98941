"""A plan says first whether this machine can do it, and what to shrink where it cannot."""

import pytest

from memaudit.workflow.feasibility import DAY, Machine, feasibility, span, this_machine
from memaudit.workflow.job_costs import Cost

ROOMY = Machine(cores=2, memory=8192.0, disk=1e12)
SMALL = Cost(3, 600.0, bytes=1e6, mebibytes=1000.0, longest=300.0)


def test_what_fits_is_feasible_with_its_time_on_the_cores_of_the_command():
    assert feasibility({"lira": SMALL}, ROOMY) == (
        "Feasible on this machine: about 5.0 min on 2 CPU cores, less what is there already."
    )


def test_the_longest_job_bounds_the_time_on_many_cores():
    assert "about 5.0 min on 64 CPU cores" in feasibility({"lira": SMALL}, Machine(64, None, None))


def test_what_takes_years_is_not_feasible_and_names_the_studies_that_take_most():
    costs = {"lira": Cost(9, 22 * 365.25 * DAY * 1.5), "tabpate": Cost(1, 22 * 365.25 * DAY * 0.5), "data": SMALL}
    sentence = feasibility(costs, ROOMY)
    assert sentence.startswith("NOT FEASIBLE ON THIS MACHINE: about 22.0 years on 2 CPU cores. Shrink ")
    assert "lira (75% of the CPU time), tabpate (25% of the CPU time)" in sentence
    assert "data (" not in sentence


def test_the_time_with_a_gpu_stands_beside_that_on_cores():
    cost = Cost(1, 3600.0, for_gpu=1800.0, gpu_seconds=60.0)
    assert "about 30.0 min on 2 CPU cores (16.0 min with a GPU)" in feasibility({"lira": cost}, ROOMY)


def test_a_time_beyond_what_was_measured_says_so_beside_it():
    told = feasibility({"lira": SMALL}, ROOMY, 1_689_837.2)
    assert "about 5.0 min on 2 CPU cores, extrapolated up to 1,689,837 times beyond any measured job, less" in told


@pytest.mark.parametrize(
    ("machine", "lack"),
    [
        (Machine(2, 500.0, None), "a job needs 1.0 GiB of memory, and it has 0.5"),
        (Machine(2, None, 5e5), "results need 0.0 GB of disk, and 0.0 are free"),
    ],
)
def test_memory_and_disk_that_lack_are_named(machine, lack):
    assert f"NOT FEASIBLE ON THIS MACHINE: {lack}. Shrink" in feasibility({"lira": SMALL}, machine)


def test_disk_is_that_of_results_and_of_the_state_of_a_job():
    cost = Cost(3, 600.0, bytes=1e9, states=3e9)
    assert "results need 4.0 GB of disk, and 2.0 are free" in feasibility({"lira": cost}, Machine(2, None, 2e9))


def test_this_machine_has_memory_and_disk(tmp_path):
    machine = this_machine(3, tmp_path / "results/not/yet")
    assert machine.cores == 3
    assert machine.memory is None or machine.memory > 100
    assert machine.disk > 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (40, "40 s"),
        (738, "12.3 min"),
        (5.1 * 3600, "5.1 h"),
        (3.2 * DAY, "3.2 days"),
        (22 * 365.25 * DAY, "22.0 years"),
    ],
)
def test_times_are_written_in_the_unit_that_people_use(seconds, text):
    assert span(seconds) == text
