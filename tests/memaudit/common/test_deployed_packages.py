"""What packages are said to be agrees with the locks, and what they do not have is named."""

import pytest

from memaudit.common.deployed_packages import PACKAGES, faults, has_folder
from memaudit.models import package_adapters
from memaudit.workflow import environments


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_a_package_has_an_adapter_and_the_version_of_its_lock(package):
    assert package.adapter in package_adapters.ADAPTERS
    own = package.environment and package.environment.removeprefix(".venv-")
    pins = environments.read_lock(environments.lock_file(own or "tabular"))
    assert pins[environments.canonicalize_name(package.distribution)].split("==")[1] == package.version


def test_weights_are_a_folder_or_a_file():
    assert [has_folder(family) for family in ("mitra", "tabfm", "tabdpt", "tabicl")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"clip": 3}, "options/clip: autogluon.tabular has seed, n_estimators, fine_tune, queries"),
        ({"seed": "7"}, "options/seed: '7'; set a whole number from 0 on"),
        ({"n_estimators": 0}, "options/n_estimators: 0; set a whole number from 1 on"),
        ({"queries": "apart"}, "options/queries: 'apart'; set one of together, alone"),
        ({"fine_tune": 1}, "options/fine_tune: 1; set true or false"),
    ],
)
def test_an_option_that_a_package_does_not_have_is_named(options, told):
    assert list(faults("mitra", "classification", None, options)) == [told]
    assert list(faults("mitra", "classification", None, {"seed": 3, "fine_tune": False})) == []


def test_a_task_and_a_network_that_a_package_does_not_have_are_named():
    assert "predicts no distribution of numbers" in next(faults("tabfm", "regression", None, {}))
    assert "one of tabicl-v2" in next(faults("sdm", "regression", None, {}))
    assert list(faults("sdm", "regression", "kumo-small", {})) == []
