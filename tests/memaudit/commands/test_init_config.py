"""`memaudit init` writes one file, never over another one, and says in one line what it cannot do."""

import pytest
import yaml

from memaudit.commands import launcher

LINES = "".join(f"{i},{i % 3},{'yes' if i % 2 else 'no'}\n" for i in range(200))


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    (tmp_path / "customers.csv").write_text(f"id,age,churn\n{LINES}")
    monkeypatch.chdir(tmp_path)


def test_the_file_is_written_and_the_next_command_named(tmp_path, capsys):
    assert launcher.main(["init", "customers.csv", "--target", "churn", "--drop", "id"]) == 0
    entry = yaml.safe_load((tmp_path / "mine.yaml").read_text())["datasets"]["customers"]
    assert (entry["target"], entry["drop"], entry["path"]) == ("churn", ["id"], "customers.csv")
    printed = capsys.readouterr().out
    assert "200 rows, 3 columns, 2 classes" in printed
    assert "then: ./memaudit plan --configfile mine.yaml" in printed
    assert "#   ./memaudit run --configfile mine.yaml " in (tmp_path / "mine.yaml").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"customers.csv", "mine.yaml"}


def test_names_of_columns_stand_as_in_the_file(tmp_path, capsys):
    rows = "".join(f"{i};{i},5;{i % 7},25;{'ja' if i % 2 else 'nein'}\n" for i in range(200))
    (tmp_path / "Käufer.csv").write_text(f"Nr;Größe (cm);Einkommen €;Übergabe\n{rows}", encoding="utf-8")
    assert launcher.main(["init", "Käufer.csv", "--target", "Übergabe"]) == 0
    printed = capsys.readouterr().out
    assert "memaudit: 'Käufer.csv': 200 rows, 4 columns, 2 classes" in printed
    assert "read as: 'Größe (cm)', 'Einkommen €': decimal comma" in printed
    assert "left out: 'Nr': numbers the rows" in printed


def test_no_file_is_written_over(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("run: mine\n")
    assert launcher.main(["init", "customers.csv", "--target", "churn"]) == 1
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "mine.yaml").read_text() == "run: mine\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "--target", "churn"], "there is no such file"),
        (["customers.csv", "--target", "chrun"], "no column 'chrun'; did you mean `churn`?"),
        (["customers.csv", "--target", "churn", "--into", "none/mine.yaml"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path, capsys, arguments, message):
    assert launcher.main(["init", *arguments]) == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1
    assert not (tmp_path / "mine.yaml").exists()
