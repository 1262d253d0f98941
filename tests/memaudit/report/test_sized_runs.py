"""The claims that a run was sized for are those of the commit that made it."""

import subprocess

import pytest

from memaudit.common.errors import AuditError
from memaudit.report.sized_runs import refuse_other_sizes


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

    def check(claims, *commits, dirty=False):
        refuse_other_sizes(claims, catalogue, "more", {"commits": commits, "dirty": dirty})

    git("init")
    (tmp_path / "other").write_text("")
    git("add", "other")
    git("commit", "-m", "a")
    older, before, after = git("rev-parse", "HEAD"), commit("other: {}\n"), commit("more: {sized_for: [a, b]}\n")
    catalogue = str(tmp_path / "runs.yaml")
    check(["b", "a"], after)
    check([], before)
    check([], dirty=True)
    for claims, commits, dirty, message in (
        (["a"], [before], False, r"runs\.yaml: sized_for of 'more' .* \(then: none\)"),
        (["a"], [after], False, r"\(then: a, b\)"),
        ([], [before, after], False, r"\(then: a, b\)"),
        (["a", "b"], [after], True, "uncommitted changes"),
        (["a", "b"], [], False, "without a commit"),
        ([], [older], False, "cannot be read as of commit"),
        ([], ["0" * 40], False, "cannot be read as of commit 00000000"),
    ):
        with pytest.raises(AuditError, match=message):
            check(claims, *commits, dirty=dirty)
