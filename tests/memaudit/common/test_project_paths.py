"""The project's folders are found from the library's place."""

from memaudit.common.project_paths import ENVS, PROJECT, SCRIPTS


def test_the_folders_are_those_of_this_checkout(project):
    assert project == PROJECT
    assert (SCRIPTS / "memaudit" / "workflow").is_dir()
    assert (ENVS / "tabular.yaml").exists()
