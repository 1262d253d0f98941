"""`./memaudit diff`: exit codes, and names that a terminal does not obey."""

from audit_examples import a_summary
from audit_folders import finished

from memaudit.commands import launcher


def test_the_exit_code_says_whether_audits_can_be_compared(tmp_path, capsys):
    other = a_summary()
    other.models["main"] = "a\x1b[31m\nmodel"
    for name, summary in (("a", None), ("b", None), ("c", other)):
        finished(tmp_path / name, summary=summary)
    codes = [launcher.main(["diff", str(tmp_path / "a"), str(tmp_path / name)]) for name in "bcd"]
    assert codes == [0, 1, 2]
    printed = capsys.readouterr()
    assert all(line.isprintable() for line in printed.out.splitlines())
    assert printed.err.count("\n") == 1
