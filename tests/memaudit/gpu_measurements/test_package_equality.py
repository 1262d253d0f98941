"""Models of other packages: all are compared, an error shows, what cannot be measured is named, views are the same."""

import math

import pytest
import small_packages
import torch

from memaudit.common.deployed_packages import PACKAGES
from memaudit.common.errors import AuditError
from memaudit.gpu_measurements import package_equality, package_weights
from memaudit.gpu_measurements.resumable_parts import LeftOut, Setup

SETUP = Setup("cpu", smallest=True, limit=60.0)


@small_packages.needs("sdm")
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_same_device_agrees_with_itself(task):
    found = package_equality.compare("sdm kumo-small", task, package_equality.SMALLEST, SETUP)
    assert found["largest_error"] == 0
    assert found["deviation_between_records"] > 0.01
    assert found["predictions_changed"] == (0 if task == "classification" else None)
    assert found["cpu_seconds"] > 0
    assert found["weights"] > 1000


def test_errors_are_those_of_the_answers():
    expected = torch.tensor([[0.9, 0.1], [0.4, 0.6]]).double().log()
    found = expected + torch.tensor([[0.0, 0.3], [0.5, 0.0]])
    differences = package_equality.differences(found, expected, "classification")
    assert differences["largest_error"] == pytest.approx(0.5)
    assert differences["root_mean_square_error"] == pytest.approx(math.sqrt((0.09 + 0.25) / 4))
    assert differences["predictions_changed"] == 0.5
    assert differences["deviation_between_records"] == pytest.approx(math.log(0.9 / 0.4) / math.sqrt(2))


def test_every_task_of_every_package_is_compared():
    cases = package_equality.cases(smallest=False)
    compared = {(package_equality.NETWORKS[case.facts["network"]][0], case.facts["task"]) for case in cases}
    assert compared == {(family, task) for family, package in PACKAGES.items() for task in package.tasks}
    assert len({case.name for case in cases}) == len(cases)


def test_a_package_that_is_not_installed_is_left_out_with_what_installs_it(monkeypatch):
    monkeypatch.setattr(package_weights, "installed_version", lambda family: None)
    with pytest.raises(LeftOut, match=r"`make \.venv-deployed` installs it"):
        package_equality.compare("tabdpt", "regression", package_equality.SMALLEST, SETUP)


def test_an_environment_without_a_gpu_is_named(monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(package_equality, "interpreter", lambda package: python)
    package_equality.check_device("mitra", "cpu")
    package_equality.check_device("tabfm", "cuda")
    with pytest.raises(AuditError, match=r"PyTorch of \.venv-deployed finds no GPU"):
        package_equality.check_device("mitra", "cuda")


def test_views_are_drawn_by_the_cpus_generator_whatever_the_device():
    def draws(device):
        generator = torch.Generator().manual_seed(5)
        orders = [torch.randperm(6, generator=generator, device=device) for _ in range(2)]
        return [*orders, torch.empty(7, device=device).bernoulli_(0.5, generator=generator)]

    with package_equality.SameDraws():
        same, elsewhere = draws("cpu"), draws("meta")
    assert all(torch.equal(one, other) for one, other in zip(same, draws("cpu"), strict=True))
    assert {one.device.type for one in elsewhere} == {"meta"}
