"""`./memaudit scan` finds rows wherever a model keeps them, finds none elsewhere, and never runs a file."""

import gzip
import pickle
import re
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from model_files import NUMBERS, ROWS, free_of, holding, hostile, neighbours, people
from safetensors.numpy import save_file
from small_tabicl import tabicl
from tabicl import TabICLClassifier
from tabpfn import TabPFNClassifier

from memaudit.commands import launcher
from memaudit.rehearsal import small_tabpfn

VALUES = re.compile(r"Zqx|\d{4,}\.\d\d\b")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the table."""
    folder = tmp_path_factory.mktemp("scan")
    people().to_csv(folder / "people.csv", index=False)
    return folder


@pytest.fixture
def scan(desk, capsys):
    """Scans a file of the folder; returns the exit code and both outputs, which never hold a value."""

    def scan(name, table="people.csv", *options):
        given = ["--table", str(desk / table)] if table else []
        code = launcher.main(["scan", str(desk / name), *given, *options])
        printed = capsys.readouterr()
        assert not VALUES.search(printed.out + printed.err)
        return code, printed.out, printed.err

    return scan


def written(value, group="", decimal=","):
    return f"{value:,.2f}".replace(",", "_").replace(".", decimal).replace("_", group)


DAYS = pd.Timestamp("2001-01-01")
# How the column beside the ages is written, and its numbers by those of the incomes.
NOTATIONS = {
    "decimal comma": written,
    "points group thousands": lambda v: written(v, "."),
    "blanks group thousands, with a currency": lambda v: f"{written(v, chr(0xA0))} €",
    "commas group thousands": lambda v: written(v, ",", "."),
    "percent": lambda v: f"{written(v, '', '.')} %",
    "dates": lambda v: (DAYS + pd.Timedelta(int(v), "D")).strftime("%d.%m.%Y"),
    "dates with a time": lambda v: (DAYS + pd.Timedelta(int(v), "D")).strftime("%m/%d/%Y %H:%M"),
    "leading zeros": lambda v: f"{int(v):07d}",
}


def in_notation(folder, seed, write, delimiter=";"):
    """Writes a table of ages and incomes in a notation; returns a random part of its numbers, in another order."""
    table = people(seed)[["age", "income"]].abs()
    as_texts = table.assign(income=table["income"].map(write))
    as_texts.to_csv(folder / f"notation-{seed}.csv", sep=delimiter, index=False)
    return table.sample(frac=0.7, random_state=3).to_numpy()


def estimator(family, folder, cached):
    """A small TabICL or TabPFN fitted on the table, with a cache of keys and values or without."""
    table = people()
    x = table.drop(columns="churn").assign(region=table["region"].astype("category"))
    if family == "tabicl":
        module = tabicl("classification").module
        sizes = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
        sizes |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "max_classes": 3}
        torch.save({"config": sizes, "state_dict": module.state_dict()}, folder / "small.ckpt")
        options = {"model_path": folder / "small.ckpt", "kv_cache": cached, "allow_auto_download": False}
        return TabICLClassifier(n_estimators=2, device="cpu", **options).fit(x, table["churn"])
    weights = small_tabpfn.write(folder / family, family, "classification")
    mode = "fit_with_cache" if cached else "fit_preprocessors"
    return TabPFNClassifier(model_path=str(weights), device="cpu", fit_mode=mode, n_estimators=2).fit(x, table["churn"])


@pytest.mark.parametrize("kind", holding(people()))
def test_rows_are_found(scan, desk, kind):
    joblib.dump(holding(people())[kind], desk / "model.joblib")
    code, out, err = scan("model.joblib")
    assert (code, err) == (1, "")
    rows = {"six rows": 6, "a part of a larger table": 60}.get(
        kind, 140 if "part" in kind or "shuffled" in kind else ROWS
    )
    assert 0.9 * rows <= int(re.match(rf"memaudit: (?:at least )?(\d+) of {ROWS} rows of ", out)[1]) <= rows


@pytest.mark.parametrize("notation", NOTATIONS)
def test_rows_are_found_in_any_notation_of_the_table_and_those_of_another_are_not(scan, desk, notation):
    write = NOTATIONS[notation]
    numbers = in_notation(desk, 0, write)
    in_notation(desk, 9, write)
    if notation.startswith(("dates", "leading")):
        numbers = np.floor(numbers)
    np.save(desk / "own.npy", numbers)
    code, out, err = scan("own.npy", "notation-0.csv")
    assert (code, err) == (1, "")
    assert int(re.search(rf"(\d+) of {ROWS} rows of ", out)[1]) > 100
    assert "'income' is read with: " in out
    assert scan("own.npy", "notation-9.csv")[0] == 0


def test_texts_that_a_model_kept_as_the_table_writes_them_are_found(scan, desk):
    for seed, code in ((0, 1), (9, 0)):
        in_notation(desk, 0, written)
        other = people(seed)[["age", "income"]].abs()
        joblib.dump(other.assign(income=other["income"].map(written)).sample(frac=0.7), desk / "texts.joblib")
        assert scan("texts.joblib", "notation-0.csv")[0] == code


@pytest.mark.parametrize(
    ("write", "options"),
    [
        (lambda v: f"{1 + int(v) % 9},{100 + int(v * 100) % 900}", ("--decimal", ",")),
        (lambda v: f"{1 + int(v) % 12:02d}/{1 + int(v) // 12 % 12:02d}/{1990 + int(v * 100) % 30}", ("--dates", "mdy")),
    ],
)
def test_cells_with_two_readings_are_asked_about(scan, desk, write, options):
    in_notation(desk, 0, write)
    texts = pd.read_csv(desk / "notation-0.csv", sep=";")
    income = texts["income"].str.replace(",", ".")
    values = income.astype(float) if "." in income[0] else pd.to_datetime(income, format="%m/%d/%Y").astype("int64")
    np.save(desk / "own.npy", texts.assign(income=values).sample(frac=0.7, random_state=3).to_numpy(float))
    code, out, err = scan("own.npy", "notation-0.csv")
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"memaudit: '.*notation-0.csv': column 'income': .* {options[0]} .*\n", err)
    code, out, _ = scan("own.npy", "notation-0.csv", *options)
    assert code == 1
    assert "as you say" in out


def test_options_say_how_the_table_is_read(scan, desk):
    np.save(desk / "own.npy", in_notation(desk, 0, written, delimiter="#"))
    assert scan("own.npy", "notation-0.csv")[0] == 2
    assert scan("own.npy", "notation-0.csv", "--delimiter", "#")[0] == 1
    assert scan("own.npy", "notation-0.csv", "--delimiter", "#", "--drop", "income")[0] == 0
    code, _, err = scan("own.npy", None, "--delimiter", "#")
    assert (code, err.count("\n")) == (2, 1)
    assert "need --table" in err


@pytest.mark.parametrize("kind", free_of(people()))
def test_no_rows_are_found_where_there_are_none(scan, desk, kind):
    joblib.dump(free_of(people())[kind], desk / "model.joblib")
    code, out, err = scan("model.joblib")
    assert (code, err) == (0, ""), out
    assert "no rows of" in out
    assert "run code" not in out


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("family", ["tabicl", "v2", "v3"])
def test_an_in_context_model_holds_its_table(scan, desk, family, cached):
    model = estimator(family, desk, cached)
    joblib.dump(model, desk / "model.pkl", compress=3)
    files = ["model.pkl"]
    if family != "tabicl":
        model.save_fit_state(desk / "model.tabpfn_fit")
        files.append("model.tabpfn_fit")
    for file in files:
        code, out, err = scan(file)
        assert (code, err) == (1, "")
        assert f"{ROWS} of {ROWS} rows of" in out
        assert (f"keys and values of every one of {ROWS} rows" in out) == cached
        code, out, _ = scan(file, table=None)
        assert code == 0
        assert f"{ROWS} rows" in out


def test_an_in_context_model_of_another_table_is_free_of_it(scan, desk):
    joblib.dump(estimator("tabicl", desk, True), desk / "model.pkl")
    people(9).to_csv(desk / "others.csv", index=False)
    code, out, _ = scan("model.pkl", "others.csv")
    assert code == 0
    assert "keys and values" in out


@pytest.mark.parametrize("protocol", range(6))
def test_every_protocol_of_pickle_is_read(scan, desk, protocol):
    (desk / "model.pkl").write_bytes(pickle.dumps(neighbours(people()), protocol=protocol))
    code, out, _ = scan("model.pkl")
    assert code == 1
    assert "run code" not in out


@pytest.mark.parametrize("method", ["zlib", "gzip", "bz2", "lzma", "xz"])
def test_compressed_files_are_read(scan, desk, method):
    joblib.dump(neighbours(people()), desk / "model", compress=(method, 3))
    assert scan("model")[0] == 1


def test_files_of_arrays_are_read(scan, desk):
    numbers, other = (np.ascontiguousarray(one[NUMBERS], float) for one in (people(), people(9)))
    for name, rows, code in (("own", numbers, 1), ("other", other, 0)):
        np.save(desk / f"{name}.npy", rows)
        np.savez_compressed(desk / f"{name}.npz", a=rows)
        save_file({"a": rows.astype("float32")}, desk / f"{name}.safetensors")
        torch.save({"a": torch.tensor(rows, dtype=torch.float32).T}, desk / f"{name}.pt")
        torch.save({"a": torch.tensor(rows)}, desk / f"{name}.old.pt", _use_new_zipfile_serialization=False)
        for suffix in ("npy", "npz", "safetensors", "pt", "old.pt"):
            assert scan(f"{name}.{suffix}")[0] == code, suffix


@pytest.mark.parametrize("kind", hostile(""))
def test_a_hostile_file_ends_in_one_line_and_runs_nothing(scan, desk, kind):
    marker = desk / "ran"
    (desk / "model.pkl").write_bytes(hostile(marker)[kind])
    code, out, err = scan("model.pkl")
    assert not marker.exists()
    lines = (out + err).splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("memaudit: ")
    assert code == (0 if "within" in kind or kind == "a billion laughs" else 2)


def test_a_model_that_runs_code_is_reported_and_not_run(scan, desk):
    from model_files import Runs

    (desk / "model.pkl").write_bytes(pickle.dumps([Runs(desk / "ran"), people()]))
    code, out, _ = scan("model.pkl")
    assert code == 1
    assert "would run code when it is loaded: posix.system" in out
    assert not (desk / "ran").exists()


def test_a_bomb_is_refused(scan, desk, monkeypatch):
    from memaudit.scanning import containers

    monkeypatch.setattr(containers, "MOST_BYTES", 1 << 20)
    (desk / "bomb").write_bytes(gzip.compress(bytes(50 << 20)))
    assert "the most that is read" in scan("bomb")[2]


def test_what_is_no_file_is_one_line(scan, desk):
    (desk / "folder").mkdir(exist_ok=True)
    for name in ("folder", "nowhere.pkl"):
        code, out, err = scan(name)
        assert (code, out) == (2, "")
        assert "there is no such file" in err
    (desk / "model.pkl").write_bytes(pickle.dumps([1.0] * 20))
    code, _, err = scan("model.pkl", "nowhere.csv")
    assert code == 2
    assert err.count("\n") == 1


def test_the_launcher_lists_the_commands_without_torch():
    command = [sys.executable, "-X", "importtime", "-m", "memaudit", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert all(f"    {name} " in done.stdout for name in ("audit", "scan", "diff", "record"))
    assert not re.search(r"\b(torch|sklearn|tabpfn|tabicl)\b", done.stderr)
