"""The environments' files and the lock say the same."""

import pytest
import yaml

from memaudit import environments


@pytest.mark.parametrize("family", environments.FAMILIES)
def test_an_environments_file_is_what_the_lock_says(project, family):
    text = (project / "envs" / f"{family}.yaml").read_text(encoding="utf-8")
    assert text == environments.render(family), "run `make envs`"


@pytest.mark.parametrize("family", environments.FAMILIES)
def test_every_pin_is_exact_and_stands_in_the_lock(project, family):
    dependencies = yaml.safe_load((project / "envs" / f"{family}.yaml").read_text(encoding="utf-8"))["dependencies"]
    pins = set((project / "requirements.lock").read_text(encoding="utf-8").split())
    assert set(dependencies[-1]["pip"]) <= pins
    assert all("==" in pin for pin in pins)


def test_each_environment_that_rules_name_exists(project):
    for path in (project / "rules").glob("*.smk"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "../envs/" in line:
                assert (project / "envs" / line.strip(' "').removeprefix("../envs/")).exists()
