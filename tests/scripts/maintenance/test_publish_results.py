"""What is published of a run, and of which one."""

import subprocess

import pytest
from conftest import PROJECT, load_script

from memaudit.common.errors import AuditError

SCRIPT = load_script("maintenance_publish_results")


def test_a_run_that_the_catalogue_lacks_is_refused_with_the_nearest_name():
    catalogue = str(PROJECT / "config/published_runs.yaml")
    assert SCRIPT._of_catalogue(catalogue, "demo") == {"command": "make demo", "tables": []}
    with pytest.raises(AuditError, match=r"published_runs\.yaml: no run 'lirra'; did you mean `lira`\?"):
        SCRIPT._of_catalogue(catalogue, "lirra")


def test_claims_that_a_run_was_sized_for_must_stand_in_the_commit_that_made_it(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(text):
        (tmp_path / "runs.yaml").write_text(text)
        git("add", "runs.yaml")
        git("commit", "-m", "a")
        return git("rev-parse", "HEAD")

    git("init")
    before, after = commit("other: {}\n"), commit("more: {sized_for: [a]}\n")
    catalogue = str(tmp_path / "runs.yaml")
    SCRIPT._refuse_other_sizes(["a"], catalogue, "more", after)
    SCRIPT._refuse_other_sizes([], catalogue, "more", before)
    with pytest.raises(AuditError, match=r"runs\.yaml: sized_for of 'more' .* \(then: none\)"):
        SCRIPT._refuse_other_sizes(["a"], catalogue, "more", before)
    with pytest.raises(AuditError, match=r"\(then: a\)"):
        SCRIPT._refuse_other_sizes(["a", "b"], catalogue, "more", after)


def test_a_rule_of_several_views_is_published_with_the_code_of_each():
    records = [
        {"rule": "b", "code": "2"},
        {"rule": "b", "code": "1"},
        {"rule": "a", "code": "3"},
        {"rule": "b", "code": "2"},
    ]
    assert SCRIPT._code(records) == {"a": "3", "b": "1 2"}
