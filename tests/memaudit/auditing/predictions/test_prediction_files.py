"""The intake of files of predictions: its copy, and every malformed input through the real command."""

import re

import numpy as np
import pandas as pd
import pytest
from prediction_examples import SECRETS, frames, with_ids

from memaudit.auditing import command_line
from memaudit.auditing.predictions.prediction_files import take_in
from memaudit.auditing.reading.request import PredictionRequest
from memaudit.common.io import read_table

YES, NO = "p_Zqx-yes", "p_Zqx-no"


@pytest.fixture
def tables():
    return frames(np.random.default_rng(0))


def write(folder, first, second, *others, delimiter=None):
    paths = [folder / name for name in ("members.csv", "nonmembers.csv", "reference.csv")]
    for path, frame in zip(paths, (first, second, *others), strict=False):
        frame.to_csv(path, index=False, sep=delimiter or ",")
    return [str(path) for path in paths]


def taken(folder, first, second, *others, **options):
    members, nonmembers, reference = write(folder, first, second, *others, delimiter=options.get("delimiter"))
    references = [reference] if others else []
    return take_in(PredictionRequest(members, nonmembers, "y", references=references, **options), folder / "into")


def refused(tmp_path, capsys, first, second, *arguments, others=()):
    """The line with which the command refuses these files."""
    delimiter = ";" if ";" in arguments else None
    members, nonmembers, reference = write(tmp_path, first, second, *others, delimiter=delimiter)
    arguments = [reference if one == "REFERENCE" else one for one in arguments]
    into = tmp_path / "into"
    command = ["audit", "--predictions", members, nonmembers, "--target", "y", "--into", str(into), *arguments]
    assert command_line.main(command) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("memaudit: ")
    assert printed.err.count("\n") == 1
    assert not into.exists()
    return printed.err


def test_the_copy_has_safe_names_and_all_rows(tmp_path, tables):
    facts = taken(tmp_path, *tables)
    copy = read_table(tmp_path / "into/table/predictions.parquet")
    assert [*copy][:6] == ["member", "row", "unit", "label", "p0", "p1"]
    assert [*copy][6:] == ["c0", "c1", "c2", "c3", "c4", "c5_category"]
    assert (facts["units"], facts["classes"], facts["references"]) == ([80, 80], 2, 0)
    assert list(copy["row"]) == [*range(1, 81)] * 2
    assert copy.loc[copy["label"] == 1, "p1"].mean() > 0.5
    assert not any(secret in str(facts) for secret in SECRETS)
    before = (tmp_path / "into/table/predictions.parquet").stat().st_mtime_ns
    assert taken(tmp_path, *tables) == facts
    assert (tmp_path / "into/table/predictions.parquet").stat().st_mtime_ns == before


def comma(value, group=""):
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", group)


DAYS = pd.Timestamp("2001-02-03")
# How numbers from 0 on are written, the options, and the numbers as they are read (None: as they are).
NOTATIONS = {
    "decimal comma": (comma, {}, None),
    "points group thousands": (lambda v: comma(1000 * v, "."), {}, lambda v: (1000 * v).round(2)),
    "percent": (lambda v: f"{v:.2f} %", {}, None),
    "currency": (lambda v: f"{comma(v)} €", {}, None),
    "three digits": (lambda v: f"{1 + v:.2f}5", {"decimal": "."}, lambda v: (1 + v + 0.005).round(3)),
    "three digits, thousands": (lambda v: f"{1 + v:.2f}5", {"decimal": ","}, lambda v: (1005 + 1000 * v).round()),
    "dates": (lambda v: (DAYS + pd.Timedelta(int(v), "D")).strftime("%d.%m.%Y"), {}, np.floor),
    "dates with two readings": (
        lambda v: f"0{1 + int(v)}/0{2 + int(v)}/2020",
        {"dates": "mdy"},
        lambda v: 31 * np.floor(v),
    ),
}


def with_feature(tables, write):
    """Both files with ids and one feature, written in a notation, and its numbers (row,) from 0 to 8."""
    values = np.random.default_rng(3).integers(0, 800, 160) / 100
    texts = np.array([write(value) for value in values])
    first, second = (frame[["y", YES, NO]] for frame in tables)
    return with_ids(first.assign(pay=texts[:80]), second.assign(pay=texts[80:])), values


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_feature_in_any_notation_is_a_number(tmp_path, tables, notation):
    write, options, read = NOTATIONS[notation]
    files, values = with_feature(tables, write)
    expected = read(values) if read else values
    facts = taken(tmp_path, *files, delimiter=";", **options)
    found = read_table(tmp_path / "into/table/predictions.parquet")["c0"].to_numpy()
    if facts["types"] == {"pay": "date"}:
        found, expected = found - found.min(), expected - expected.min()
        expected = found if "two readings" in notation else expected
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert facts["readings"]["pay"]


@pytest.mark.parametrize("write", [NOTATIONS["three digits"][0], NOTATIONS["dates with two readings"][0]])
def test_cells_with_two_readings_are_asked_about(tmp_path, capsys, tables, write):
    files, _ = with_feature(tables, write)
    line = refused(tmp_path, capsys, *files, "--delimiter", ";")
    assert "column 'pay': its " in line
    assert "--decimal" in line or "--dates" in line


def test_both_files_have_the_same_reading(tmp_path, capsys, tables):
    (first, second), values = with_feature(tables, lambda v: f"{1 + v:.2f}5".replace(".", ","))
    second = second.assign(pay=[comma(value) for value in values[80:]])
    taken(tmp_path, first, second, delimiter=";")
    found = read_table(tmp_path / "into/table/predictions.parquet")["c0"].to_numpy()
    np.testing.assert_allclose(found, [*(values[:80] + 1.005), *values[80:]])
    (tmp_path / "other").mkdir()
    first, second = first.assign(pay=values[:80]), second.assign(pay=[comma(value) for value in values[80:]])
    line = refused(tmp_path / "other", capsys, first, second, "--delimiter", ";")
    assert re.search(r"column 'pay' mixes .*, the first in data row 1 of '.*/nonmembers.csv'; write them alike", line)


def test_codes_are_categories(tmp_path, tables):
    files, values = with_feature(tables, lambda v: f"{int(v):05d}")
    assert taken(tmp_path, *files)["types"] == {"pay": "categorical"}
    found = read_table(tmp_path / "into/table/predictions.parquet")["c0_category"].to_numpy()
    assert len(pd.crosstab(found, np.floor(values)).to_numpy().nonzero()[0]) == 8


def test_a_number_written_in_two_ways_is_the_same_record(tmp_path, tables):
    first, second = (frame.assign(x0=[f"{value:.9f}".replace(".", ",") for value in frame["x0"]]) for frame in tables)
    twice = pd.concat([first, first[:5].assign(x0=lambda frame: frame["x0"] + "0")])
    assert taken(tmp_path, twice, second)["duplicates"] == 5


PROBABILITIES = {
    "decimal comma": (lambda v: f"{v:.6f}".replace(".", ","), 1e-9),
    "percent": (lambda v: f"{100 * v:.4f} %", 1e-9),
    "percent and comma": (lambda v: f"{100 * v:.2f}%".replace(".", ","), 1e-4),
}


@pytest.mark.parametrize("notation", PROBABILITIES)
def test_probabilities_in_any_notation_are_those_of_plain_files(tmp_path, tables, notation):
    write, close = PROBABILITIES[notation]
    files = with_ids(*tables)
    plain = taken(tmp_path, *files, pd.concat(files))
    expected = read_table(tmp_path / "into/table/predictions.parquet")
    written = [one.assign(**{name: one[name].map(write) for name in (YES, NO)}) for one in files]
    (tmp_path / "other").mkdir()
    facts = taken(tmp_path / "other", *written, pd.concat(written), delimiter=";" if "comma" in notation else None)
    found = read_table(tmp_path / "other/into/table/predictions.parquet")
    for name in ("p0", "p1", "r0"):
        np.testing.assert_allclose(found[name], expected[name], atol=close)
    assert plain["probability_readings"] == []
    assert facts["probability_readings"]


def test_references_have_the_notation_of_both_files(tmp_path, capsys, tables):
    files = with_ids(*tables)
    reference = pd.concat(files)
    reference[[YES, NO]] = reference[[YES, NO]].map(lambda value: f"{value:.6f}".replace(".", ","))
    line = refused(tmp_path, capsys, *files, "--reference", "REFERENCE", "--delimiter", ";", others=[reference])
    assert re.search(r"reference.csv', column 'p_Zqx-(yes|no)': data row 1 holds no number", line)


def test_a_word_among_probabilities_with_commas_is_named(tmp_path, capsys, tables):
    first, second = [
        one.assign(**{name: one[name].map(PROBABILITIES["decimal comma"][0]) for name in (YES, NO)}) for one in tables
    ]
    second.iloc[4, list(second).index(NO)] = "none at all"
    line = refused(tmp_path, capsys, first, second, "--delimiter", ";")
    assert re.search(rf"column '{NO}' mixes 159 .*, the first in data row 5 of '.*/nonmembers.csv'", line)


def test_equal_rows_of_a_file_count_once_unless_they_have_ids(tmp_path, tables):
    first, second = tables
    twice = pd.concat([first, first[:5]])
    assert taken(tmp_path, twice, second)["duplicates"] == 5
    (tmp_path / "other").mkdir()
    assert taken(tmp_path / "other", *with_ids(twice, second))["duplicates"] == 0


def test_ids_permit_equal_rows_in_both_files(tmp_path, tables):
    first, second = tables
    assert taken(tmp_path, *with_ids(first, pd.concat([second, first[:3]])))["units"] == [80, 83]


def test_reference_rows_are_found_by_their_ids(tmp_path, tables):
    first, second = with_ids(*tables)
    reference = pd.concat([first, second])[::-1].assign(**{YES: 0.25, NO: 0.75})
    assert taken(tmp_path, first, second, reference)["references"] == 1
    copy = read_table(tmp_path / "into/table/predictions.parquet")
    assert copy["r0"].tolist() == np.where(copy["label"] == 1, 0.25, 0.75).tolist()


def test_persons_have_all_their_rows(tmp_path, tables):
    first, second = (frame.assign(house=[f"{name}{place // 2}" for place in range(160)])
                     for name, frame in zip("ab", (pd.concat([one] * 2) for one in tables), strict=True))  # fmt: skip
    facts = taken(tmp_path, first, second, group="house")
    assert (facts["units"], facts["by_person"], facts["duplicates"]) == ([80, 80], True, 0)


def test_of_large_files_whole_persons_are_drawn(tmp_path, tables):
    first, second = (frame.assign(house=[f"{name}{place // 2}" for place in range(160)])
                     for name, frame in zip("ab", (pd.concat([one] * 2) for one in tables), strict=True))  # fmt: skip
    facts = taken(tmp_path, first, second, group="house", rows=131)
    assert (facts["units"], facts["sampled"]) == ([65, 65], 60)
    assert read_table(tmp_path / "into/table/predictions.parquet")["unit"].value_counts().eq(2).all()


def changed(frame, row, **cells):
    frame = frame.copy().reset_index(drop=True).astype(object)
    for column, cell in cells.items():
        frame.loc[row, column] = cell
    return frame


FAULTS = {
    "outside": (lambda a, b: (changed(a, 2, **{YES: 1.5}), b), "members.csv', column 'p_Zqx-yes': data row 3 holds a"),
    "sum": (lambda a, b: (a, changed(b, 4, **{YES: 0.9, NO: 0.9})), "nonmembers.csv': data row 5 has 2 probabilities"),
    "class": (lambda a, b: (changed(a, 0, y="Zqx-else"), b), "data row 1 has a target that is none of the classes"),
    "target": (lambda a, b: (changed(a, 0, y=""), b), "data row 1 has no target"),
    "no rows": (lambda a, b: (a, b[:0]), "a header, but no records"),
    "few": (lambda a, b: (a[:20], b), "20 members and 80 non-members (records without duplicates) are too few"),
    "no target": (lambda a, b: (a.drop(columns="y"), b), "members.csv': --target: there is no column 'y'"),
    "no probabilities": (lambda a, b: (a.drop(columns=[YES, NO]), b.drop(columns=[YES, NO])), "no columns of probab"),
    "columns": (lambda a, b: (a, b.drop(columns="x1")), "nonmembers.csv': has no column 'x1', which "),
    "both": (lambda a, b: (a, pd.concat([b, a[3:4]])), "data row 81 and data row 4 of "),
    "same id": (lambda a, b: (with_ids(a, b)[0], b.assign(id=[*range(79), "Zqx-id 5"])), "the same id in column 'id'"),
    "id twice": (lambda a, b: (a.assign(id=1), b.assign(id=2)), "data row 2 has the id of an earlier row"),
    "one file": (lambda a, b: (a, a), "are the same file"),
    "reserved": (lambda a, b: (a.assign(file_row_number=1), b.assign(file_row_number=1)), "a reserved name; rename it"),
    "words": (lambda a, b: (changed(a, 0, x1="Zqx-word"), b), "data row 1 of "),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_file_is_refused_in_one_line(tmp_path, capsys, tables, fault):
    change, message = FAULTS[fault]
    line = refused(tmp_path, capsys, *change(*tables))
    assert message in line
    assert not any(word in line.replace(YES, "").replace(NO, "") for word in (*SECRETS, "Zqx-else", "Zqx-word"))


OPTIONS = {
    "unknown id": (["--id", "idd"], "--id: the files have no column 'idd'"),
    "unknown group": (["--group", "house"], "--group: the files have no column 'house'"),
    "group twice": (["--group", "region"], "the same person in column 'region'"),
    "dropped target": (["--drop", "y"], "--target 'y' cannot also be --id, --group or --drop"),
    "reference without ids": (["--reference", "REFERENCE"], "--reference: rows are found by their ids"),
    "model": (["--model", "x"], "--model: has no meaning with --predictions"),
    "quick": (["--quick"], "--quick: has no meaning with --predictions"),
    "context rows": (["--context-rows", "9"], "--context-rows: has no meaning with --predictions"),
    "seed": (["--seed", "-1"], "--seed: -1 is less than 0"),
    "dry run": (["--", "-n"], "-n: with this option Snakemake makes no page"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options_that_do_not_fit_are_refused_in_one_line(tmp_path, capsys, tables, case):
    arguments, message = OPTIONS[case]
    assert message in refused(tmp_path, capsys, *tables, *arguments, others=tables[:1])


REFERENCES = {
    "rows": (lambda every: every[:100], "has no prediction of 60 of 160 records"),
    "target": (lambda every: changed(every, 7, y="Zqx-yes" if every["y"].iloc[7] == "Zqx-no" else "Zqx-no"),
               "data row 8 has another target than the record of the same id"),
    "column": (lambda every: every.drop(columns=YES), "has no column 'p_Zqx-yes'; a reference has the ids"),
    "twice": (lambda every: pd.concat([every, every[:1]]), "data row 161 has the id of an earlier row"),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFERENCES)
def test_a_malformed_reference_is_refused_in_one_line(tmp_path, capsys, tables, fault):
    change, message = REFERENCES[fault]
    first, second = with_ids(*tables)
    reference = change(pd.concat([first, second]))
    assert message in refused(tmp_path, capsys, first, second, "--reference", "REFERENCE", others=[reference])


def test_a_folder_of_other_files_is_refused(tmp_path, tables, capsys):
    taken(tmp_path, *tables)
    (tmp_path / "into/.memaudit").touch()
    _, nonmembers, reference = write(tmp_path, *tables, tables[0])
    command = ["audit", "--predictions", reference, nonmembers, "--target", "y", "--into", str(tmp_path / "into")]
    assert command_line.main(command) == 1
    assert "holds another audit" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["t.csv", "--id", "a"], ["t.csv", "--reference", "a"]])
def test_options_of_predictions_need_them(capsys, arguments):
    assert command_line.main(["audit", *arguments, "--target", "y"]) == 1
    assert f"{arguments[1]}: is only for --predictions" in capsys.readouterr().err


def test_a_table_and_predictions_exclude_each_other(capsys):
    assert command_line.main(["audit", "t.csv", "--predictions", "a", "b", "--target", "y"]) == 1
    assert "--predictions takes the place of TABLE" in capsys.readouterr().err
