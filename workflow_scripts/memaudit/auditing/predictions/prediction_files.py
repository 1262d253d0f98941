"""The private copy of a user's files of predictions: members, non-members, and perhaps reference models.

The copy has safe column names: member, row, unit, label, p0, ... (probabilities), c0, ... (features) and r0, ...
(probability of the true class by each reference model). True names stand in facts.json beside it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from memaudit.auditing.predictions.prediction_features import Features, Settings, read_features
from memaudit.auditing.predictions.prediction_readings import File, cleaned, read_alike, read_file
from memaudit.auditing.predictions.reference_predictions import reference_file, reference_probabilities
from memaudit.auditing.reading import source_file
from memaudit.auditing.reading.class_columns import ClassColumns, class_columns, labels, probabilities
from memaudit.auditing.reading.column_hints import column_hint
from memaudit.auditing.reading.request import PredictionRequest
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.data.column_readings import CODES, Reading
from memaudit.data.number_formats import PERCENT

FEWEST = 60  # records, or persons, of either file
COPY, FACTS = "predictions.parquet", "facts.json"
ID = "id"
CATEGORY = "_category"


def take_in(request: PredictionRequest, folder: Path) -> dict[str, Any]:
    """Copy the files into folder/table and return the facts about them.

    Raises AuditError, one line that names file, column or data row and the remedy, never the value of a cell.
    """
    private = folder / "table"
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = " ".join(ascii(str(source_file.expanded(one).absolute())) for one in (request.members, request.nonmembers))
    facts = private / FACTS
    if facts.exists() and read_json(facts)["path"] != path:
        raise AuditError(f"{str(folder)!r}: holds another audit; give another folder with --into")
    with TemporaryDirectory(prefix=".read-", dir=private) as scratch:
        copy, made = _read(request, Path(scratch))
    made |= {"path": path}
    if not (facts.exists() and (private / COPY).exists() and read_json(facts) == made):
        facts.unlink(missing_ok=True)
        write_table(copy, private / COPY)
        write_json(made, facts)
    return made


def _read(request: PredictionRequest, scratch: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The copy and the facts about it."""
    both = [read_file(one, request, scratch) for one in (request.members, request.nonmembers)]
    _same_columns(request, both)
    names, sizes = [one.name for one in both], [len(one.frame) for one in both]
    targets = [cleaned(one.frame[request.target], request) for one in both]
    columns = class_columns(
        [name for name in both[0].frame if name not in _roles(request, both[0])],
        pd.concat(targets).dropna().unique().tolist(),
    )
    # The notation of probabilities, which a program has written, says nothing of the features' and is read apart.
    id_column = request.id or ID
    files = [*both, *(reference_file(one, request, scratch, columns, id_column) for one in request.references)]
    files, written = read_alike(files, columns.columns, request, scratch, numeric=True)
    features_of = [name for name in both[0].frame if name not in {*columns.columns, *_roles(request, both[0])}]
    both, readings = read_alike(files[:2], features_of, request, scratch)
    percent = [name for name, reading in written.items() if reading.percent]
    every = pd.concat([one.frame for one in both], ignore_index=True)
    values = np.concatenate([probabilities(one.frame, columns, one.name, percent) for one in both])
    codes = np.concatenate([labels(target, columns, one.name) for target, one in zip(targets, both, strict=True)])
    identity = _ids(request, both)
    persons = _persons(request, every, sizes, names)
    codes_of_words = [name for name, reading in readings.items() if reading.kind == CODES]
    features = _features(request, both, every, columns, codes_of_words, scratch)
    member = np.arange(len(every)) < sizes[0]
    cells = _compared(every, features, request)
    distinct = _distinct(cells, codes, member, names, known=identity is not None or persons is not None)
    units = np.arange(len(every)) if persons is None else persons
    kept = distinct & _drawn(units, member, distinct, request)
    references = [
        reference_probabilities(one, request, columns, identity, codes, percent, id_column) for one in files[2:]
    ]
    rows = pd.DataFrame({"member": member, "row": np.concatenate([np.arange(size) + 1 for size in sizes])})
    copy = _copy(rows.assign(unit=units, label=codes), values, features, references, kept)
    counts = copy.groupby("member")["unit"].nunique()
    _enough(int(counts.get(True, 0)), int(counts.get(False, 0)), request.group)
    return copy, _described(request, both) | {
        "duplicates": int(np.count_nonzero(~distinct)),
        "sampled": int(np.count_nonzero(distinct & ~kept)),
        "units": [int(counts[True]), int(counts[False])],
        "classes": len(columns.columns),
        "types": features.types,
        "readings": {name: one.remark for name, one in readings.items() if one.remark},
        "probability_readings": _probability_remarks(written),
        "left_out": features.left_out | dict.fromkeys(sorted(request.drop), "by your choice"),
    }


def _copy(
    rows: pd.DataFrame, values: Array, features: Features, references: Sequence[Array], kept: Mask
) -> pd.DataFrame:
    """The kept rows with their numbers under safe names, and units numbered from 0; rows: member, row, unit, label."""
    numbers = [_named("p", values), _named("c", features.values, features.categorical)]
    numbers += [_named("r", np.column_stack(references))] if references else []
    copy = pd.concat([rows, *numbers], axis=1)[kept].reset_index(drop=True)
    return copy.assign(unit=np.unique(copy["unit"], return_inverse=True)[1])


def _described(request: PredictionRequest, both: Sequence[File]) -> dict[str, Any]:
    """Facts of the two files, and what the user said of them."""
    return {
        "names": [_plain(request.members), _plain(request.nonmembers)],
        "sha256": [one.sha256 for one in both],
        "rows": [len(one.frame) for one in both],
        "by_person": request.group is not None,
        "target": request.target,
        "group": request.group,
        "references": len(request.references),
    }


def _plain(path: str) -> str:
    return Path(path).name.encode("utf-8", "backslashreplace").decode()


def _same_columns(request: PredictionRequest, both: Sequence[File]) -> None:
    """Raise AuditError unless both files have the same columns, and those that the options name."""
    if both[0].sha256 == both[1].sha256:
        raise AuditError(f"{both[0].name} and {both[1].name} are the same file; give members and non-members")
    for one, other in (both, both[::-1]):
        if lacking := [name for name in other.frame if name not in one.frame]:
            raise AuditError(
                f"{one.name}: has no column {lacking[0]!r}, which {other.name} has; both need the same ones"
            )
    if both[0].typed != both[1].typed:
        raise AuditError("one file is Parquet and the other is not; give both in the same format")
    named = {"--id": [request.id], "--group": [request.group], "--drop": request.drop}
    for option, names in (named | {"--categorical": request.categorical}).items():
        for name in filter(None, names):
            if name not in both[0].frame:
                raise AuditError(f"{option}: the files have no column {name!r}{column_hint(name, list(both[0].frame))}")
    if request.references and _id_column(request, both[0].frame) is None:
        raise AuditError("--reference: rows are found by their ids; add a column id to all files, or name it with --id")
    if request.target in (request.id, request.group, *request.drop):
        raise AuditError(f"--target {request.target!r} cannot also be --id, --group or --drop")


def _probability_remarks(readings: Mapping[str, Reading]) -> list[str]:
    """What is said of the notations of the probability columns."""
    remarks = {one.remark.replace(PERCENT, "12 % is read as 0.12") for one in readings.values()}
    return sorted(filter(None, remarks))


def _id_column(request: PredictionRequest, frame: pd.DataFrame) -> str | None:
    return request.id or (ID if ID in frame and request.target != ID else None)


def _roles(request: PredictionRequest, file: File) -> set[str]:
    """Columns that are neither probabilities nor features."""
    return set(filter(None, [request.target, request.group, _id_column(request, file.frame), *request.drop]))


def _ids(request: PredictionRequest, both: Sequence[File]) -> pd.Index | None:
    """The id of every row. Raises AuditError for a missing one, and one that occurs twice."""
    column = _id_column(request, both[0].frame)
    if column is None:
        return None
    found = [cleaned(one.frame[column], request) for one in both]
    for ids, one in zip(found, both, strict=True):
        if ids.isna().any():
            raise AuditError(f"{one.name}: data row {int(np.argmax(ids.isna())) + 1} has no id in column {column!r}")
        if (again := ids.duplicated().to_numpy()).any():
            raise AuditError(
                f"{one.name}: data row {int(np.argmax(again)) + 1} has the id of an earlier row (column {column!r}); "
                "ids must differ"
            )
    if (shared := found[1].isin(set(found[0])).to_numpy()).any():
        _in_both(both[0].name, both[1].name, found[0], found[1], shared, f"the same id in column {column!r}")
    return pd.Index(pd.concat(found))


def _in_both(first: str, second: str, ours: pd.Series, theirs: pd.Series, shared: Mask, what: str) -> None:
    place = int(np.argmax(shared))
    other = int(np.argmax((ours == theirs.iloc[place]).to_numpy()))
    raise AuditError(
        f"{second}: data row {place + 1} and data row {other + 1} of {first} have {what}: a record is a member or not; "
        "remove it from one file"
    )


def _persons(
    request: PredictionRequest, every: pd.DataFrame, sizes: Sequence[int], names: Sequence[str]
) -> Codes | None:
    """Code of each row's person. Raises AuditError for a row without one, and a person in both files."""
    if request.group is None:
        return None
    found = cleaned(every[request.group], request)
    first, second = found[: sizes[0]].reset_index(drop=True), found[sizes[0] :].reset_index(drop=True)
    for part, name in zip((first, second), names, strict=True):
        if part.isna().any():
            row = int(np.argmax(part.isna())) + 1
            raise AuditError(f"{name}: --group {request.group!r}: missing in data row {row}; every row needs a person")
    if (shared := second.isin(set(first)).to_numpy()).any():
        _in_both(*names, first, second, shared, f"the same person in column {request.group!r}")
    return pd.factorize(found)[0]


def _features(
    request: PredictionRequest,
    both: Sequence[File],
    every: pd.DataFrame,
    columns: ClassColumns,
    codes: Sequence[str],
    scratch: Path,
) -> Features:
    joined = scratch / "both.parquet"
    write_table(every.drop(columns=columns.columns), joined)
    drop = [name for name in _roles(request, both[0]) if name != request.target]
    settings = Settings(request.target, drop, request.categorical, request.missing, both[0].typed, codes)
    return read_features(joined, [len(one.frame) for one in both], [one.name for one in both], settings)


def _compared(every: pd.DataFrame, features: Features, request: PredictionRequest) -> pd.DataFrame:
    """Cells by which rows are compared: of all features, and of those that are left out for being words or codes."""
    names = [*features.types, *features.texts]
    return pd.DataFrame({name: cleaned(every[name], request) for name in names})


def _distinct(cells: pd.DataFrame, codes: Codes, member: Mask, names: Sequence[str], known: bool) -> Mask:
    """Rows (row,) that are no duplicate of an earlier one of their file; all where ids or persons are known.

    Without ids rows are compared by features and target. Raises AuditError for a row that is in both files.
    """
    if known or cells.shape[1] == 0:
        return np.ones(len(codes), np.bool_)
    rows = cells.assign(target=codes, **{" member": member})
    kept = ~rows.duplicated().to_numpy()
    keys = pd.Series(pd.util.hash_pandas_object(rows.drop(columns=" member").astype(str), index=False).to_numpy())
    ours, theirs = keys[member].reset_index(drop=True), keys[~member].reset_index(drop=True)
    if (shared := theirs.isin(set(ours)).to_numpy()).any():
        _in_both(*names, ours, theirs, shared, "equal features and targets (if they are two records, add a column id)")
    return kept


def _drawn(units: Codes, member: Mask, kept: Mask, request: PredictionRequest) -> Mask:
    """Rows (row,) of units drawn at random: whole ones, of either file as many as have at most `rows` kept rows."""
    rng, drawn = np.random.default_rng(request.seed), np.zeros(len(units), np.bool_)
    for side in (member & kept, ~member & kept):
        names, counts = np.unique(units[side], return_counts=True)
        order = rng.permutation(len(names))
        few = order[np.cumsum(counts[order]) <= request.rows]
        drawn |= side & np.isin(units, names[few])
    return drawn


def _named(prefix: str, values: Array, categorical: Mask | None = None) -> pd.DataFrame:
    """The numbers (row, column) under safe names; those of categories end in CATEGORY."""
    kinds = np.zeros(values.shape[1], np.bool_) if categorical is None else categorical
    ends = [CATEGORY if kind else "" for kind in kinds]
    return pd.DataFrame(values, columns=[f"{prefix}{place}{end}" for place, end in enumerate(ends)])


def _enough(members: int, nonmembers: int, group: str | None) -> None:
    what = "persons" if group else "records"
    if min(members, nonmembers) < FEWEST:
        raise AuditError(
            f"{members} members and {nonmembers} non-members ({what} without duplicates) are too few; at least "
            f"{FEWEST} of each are needed"
        )
