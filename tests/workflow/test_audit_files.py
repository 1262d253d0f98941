"""Hostile files through the command: each is read, or refused in one line that says what to do and shows no value."""

import gzip
import io
import os
import re
import stat
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audit_examples import a_summary

from memaudit.auditing import command_line, runner
from memaudit.common.io import read_json

SECRET, ROWS = "S3cret", 80


def frame(rows=ROWS, **columns):
    rng = np.random.default_rng(0)
    facts = {"age": rng.integers(18, 90, rows), "city": rng.choice([f"{SECRET}-a", f"{SECRET}-b"], rows)}
    return pd.DataFrame(facts | {"churn": rng.choice(["no", "yes"], rows)} | columns)


def text(rows=ROWS, **columns):
    return frame(rows, **columns).to_csv(index=False)


def wide(columns):
    cells = np.random.default_rng(0).integers(0, 9, (ROWS, columns - 2))
    return frame().join(pd.DataFrame(cells).rename(columns="x{}".format)).to_csv(index=False)


def zipped():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("table.csv", text())
    return held.getvalue()


def parquet(**columns):
    held = io.BytesIO()
    frame(**columns).to_parquet(held, index=False)
    return held.getvalue()


def quoted_header(content):
    """The table with a line break within the quoted name of a column."""
    return content.replace("city", '"the\ncity"', 1)


LINES = text().splitlines()
DAY = date(2020, 1, 1)

# Content of the file, and the line that refuses it.
REFUSED = {
    "empty": (b"", r"the file is empty \(0 bytes\)"),
    "one line break": (b"\n", "no header"),
    "a header alone": (b"age,city,churn\n", "a header, but no records"),
    "NUL bytes alone": (bytes(5000), "NUL bytes in the header"),
    "random bytes": (np.random.default_rng(1).bytes(20_000), "utf-8|cannot be read"),
    "UTF-16 with a BOM": (text().encode("utf-16"), "is not utf-8"),
    "UTF-16 without a BOM": (text().encode("utf-16-le"), "NUL bytes in the header"),
    "UTF-32": (text().encode("utf-32"), "is not utf-8"),
    "Latin-1": (text(city="S3cret-\xe9").encode("latin-1"), "is not utf-8; set"),
    "names twice": (text().replace("city", "age", 1), "both called 'age'"),
    "names twice in another case": (text().replace("city", "AGE", 1), "both called 'AGE'"),
    "an empty name": (text().replace("city", "", 1), "column 2 has no name"),
    "a blank name": (text().replace("city", "  ", 1), "column 2 has no name"),
    "3,000 columns": (wide(3000), "3000 columns besides the target"),
    "501 columns": (wide(501), "501 columns besides the target, an audit reads at most 500"),
    "a number beyond single precision": (text(age=["1e39", *range(79)]), "column 'age': data row 1 holds a number"),
    "no target at all": (text(churn=""), "target 'churn' is missing in every row"),
    "one class": (text(churn="yes"), "the same in all rows"),
    "a class of one row": (text(churn=["x", *["yes", "no"] * 39, "no"]), "1 of 3 classes has fewer than the 4 rows"),
    "1,000 classes": (text(3000, churn=[f"{SECRET}{i % 1000}" for i in range(3000)]), "1000 classes"),
    "25 records eight times": (pd.concat([frame(25)] * 8).to_csv(index=False), "25 of 200 rows are left"),
    "10 rows": (text(10), "10 rows with a target are too few"),
    "a ragged row": (text() + f"1,{SECRET},no,{SECRET}\n", f"line {ROWS + 2} has 4 fields"),
    "a quote that never closes": (text() + f'1,"{SECRET},no\n', "opens a quote"),
    "words among numbers": (text(age=[*range(70), *[SECRET] * 10]), "mixes 70 numbers with 10 words"),
    "infinite numbers": (
        text(age=["inf", *range(79)]),
        "infinite values, the first in data row 1; correct them, or leave",
    ),
    "gzip, cut off": (gzip.compress(text().encode())[:-30], "cannot be read"),
    "gzip, damaged": (gzip.compress(text().encode())[:60] + bytes(200), "cannot be read"),
    "gzip of nothing": (gzip.compress(b""), "the file is empty"),
    "a zip archive": (zipped(), "is a zip archive"),
    "Parquet, cut off": (parquet()[:-40], "not a readable Parquet file"),
    "Parquet in name alone": (b"PAR1 and then nothing", "not a readable Parquet file"),
    "Parquet with nested types alone": (parquet(age=[[1, 2]] * ROWS, city=[{"a": SECRET}] * ROWS), r"holds BIGINT\[\]"),
    "a reserved name": (text(file_row_number=1), "reserved name"),
    "free text alone": ("t,churn\n" + "".join(f"{SECRET} {i},{i % 2}\n" for i in range(80)), "no column is left"),
    "a column without a value": (text(refund=""), "column 'refund': missing in every row"),
    "a workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4000), r"is a workbook \(xls\)"),
    "one cell of 10 MB": (text(city=["x" * 10_000_000, *["y"] * 79]), "line 2 "),
}

# Content of a file that is read, and its number of rows.
READ = {
    "UTF-8 with a BOM": ("\ufeff" + text()).encode(),
    "CRLF with LF in a quoted name": quoted_header(text().replace("\n", "\r\n")),
    "mixed line ends": "\r\n".join(LINES[:20]) + "\n" + "\r".join(LINES[20:50]) + "\n" + "\n".join(LINES[50:]) + "\n",
    "old Mac line ends": text().replace("\n", "\r"),
    "no line end at the end": text().rstrip("\n"),
    "control characters in a name": text().replace("city", '"ci\x1b[31m\x07\tty"', 1),
    "an override of the text's direction": text().replace("city", "ci\u202ety", 1),
    "a name that is a formula": text().replace("city", "=cmd|' /C calc'!A0", 1),
    "HTML as a name": text().replace("city", "</td><script>alert(1)</script>{{ 7*7 }}", 1),
    "a name of 10,000 signs": text().replace("city", "c" * 10_000, 1),
    "500 columns": wide(500),
    "integers of 40 digits as words": text(number=[f'"{10**40 + i}"' for i in range(ROWS)]),
    "integers beyond 64 bits": text(number=[10**20 + i % 7 for i in range(ROWS)]),
    "dates": text(day=[DAY + timedelta(i) for i in range(ROWS)]),
    "dates in Parquet": parquet(day=[datetime(2020, 1, 1) + timedelta(i) for i in range(ROWS)]),
    "categories and booleans in Parquet": parquet(
        kind=pd.Categorical(np.resize(["a", "b"], ROWS)), flag=np.resize([True, False, None], ROWS)
    ),
    "semicolons and decimal points": frame(pay=0.5).to_csv(index=False, sep=";"),
    "blank lines at the end": text() + "\n\n",
    "duplicates among others": pd.concat([frame(), frame(10)]).to_csv(index=False),
    "quotes and line breaks in cells": text(note=['a "quoted"\nword', "b"] * (ROWS // 2)),
}


@pytest.fixture
def command(tmp_path, monkeypatch, capfd):
    """Gives the command a file, without the stages after the intake; returns exit code, both outputs and the folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "_stage", lambda *_: a_summary().model_dump() | {"stage": "quick"})

    def give(content, name="table.csv"):
        if content is not None:
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code = command_line.main(["audit", name, "--target", "churn", "--quick", "--into", "audit"])
        printed = capfd.readouterr()
        return code, printed.out, printed.err, tmp_path / "audit"

    return give


def refused(code, out, err, folder, message):
    """Whether a command has ended in one line, and left nothing."""
    assert code == 1, out + err
    assert out == ""
    assert re.fullmatch(rf"memaudit: [^\n]*({message})[^\n]*\n", err), err
    assert len(err) < 500
    assert SECRET not in err
    assert err.isascii()
    assert "Traceback" not in err
    assert not folder.exists()


@pytest.mark.parametrize("fault", REFUSED)
def test_a_file_is_refused_in_one_line(command, fault):
    content, message = REFUSED[fault]
    refused(*command(content), message)


@pytest.mark.parametrize("kind", READ)
def test_a_file_is_read(command, kind):
    code, out, err, folder = command(READ[kind])
    assert (code, err) == (0, "")
    facts = read_json(folder / "table/facts.json")
    assert facts["taken"] == {"duplicates among others": ROWS + 10}.get(kind, ROWS)
    assert SECRET not in out
    assert all(line.isprintable() for line in out.split("\n"))
    assert not [path for path in folder.rglob("*") if path.name.startswith((".slices", ".lines", "raw"))]


def test_a_folder_a_pipe_and_a_device_are_refused(command, tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, message in (("folder", "is a folder"), ("pipe", "no regular file"), ("/dev/zero", "no regular file")):
        refused(*command(None, name), message)


def test_links_are_followed_if_they_lead_to_a_file(command, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/real.csv").write_text(text())
    Path("link.csv").symlink_to(tmp_path / "elsewhere/real.csv")
    assert command(None, "link.csv")[0] == 0
    assert stat.S_ISREG((tmp_path / "elsewhere/real.csv").lstat().st_mode)


@pytest.mark.parametrize("target", ["nowhere.csv", "loop.csv"])
def test_a_link_that_leads_nowhere_is_refused(command, target):
    Path("loop.csv").symlink_to(target)
    refused(*command(None, "loop.csv"), "no such file|cannot be read")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(command, tmp_path):
    (tmp_path / "table.csv").write_text(text())
    (tmp_path / "table.csv").chmod(0)
    refused(*command(None), "correct its permissions")
