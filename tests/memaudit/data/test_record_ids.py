"""Record ids: keyed hashes of the typed content, and files for the owner only."""

import hashlib
import hmac
import json
import stat
import uuid

import numpy as np
import pandas as pd
import pytest
from raw_tables import KEY, made, people

from memaudit.common.errors import AuditError
from memaudit.data.record_ids import make_key, read_key


def test_an_id_is_hmac_sha256_of_the_typed_content(tmp_path):
    frame = pd.DataFrame({"b": [1.0, np.nan, 2.0], "a": ["x", "", "yz"], "y": ["n", "m", "n"]})
    records, *_ = made(frame, tmp_path)
    key = hmac.digest(KEY, json.dumps(["a", "b", "y"]).encode(), "sha256")

    def keyed(text):
        return uuid.UUID(hmac.digest(key, text.encode(), "sha256").hex()[:32])

    content = keyed("1:x" + "3:1.0")
    assert records["id"][0] == keyed(f"{content}1:n").hex
    content = keyed("-" + "-")
    assert records["id"][1] == keyed(f"{content}1:m").hex


def test_ids_depend_on_content_alone(tmp_path):
    frame = people()
    shuffled = frame.sample(frac=1, random_state=1)[["y", "job", "age"]]
    first, second = made(frame, tmp_path)[0], made(shuffled, tmp_path, name="other")[0]
    both = first.merge(second, on=["age", "job", "target"], suffixes=("", "_other"))
    assert (both["id"] == both["id_other"]).all()
    as_text = made(frame.astype(str), tmp_path, name="text")[0]
    assert (as_text["id"] == first["id"]).all(), "31 and 31.0 of a numeric column are one number"


def test_ids_differ_by_key_and_tell_alike_rows_apart(tmp_path):
    # Few distinct values: all text, so that nothing but the boundaries differs.
    rows = [("a", "bc"), ("ab", "c"), ("abc", None), (None, "abc"), ("1:a", "bc"), ("a", "1:bc"), ("-", "abc")]
    frame = pd.DataFrame(rows, columns=["u", "v"]).assign(y=["m", "n", *["m"] * 5])
    records, *_ = made(frame, tmp_path, types={"u": "text", "v": "text"})
    assert records["id"].nunique() == len(rows)
    others, *_ = made(frame, tmp_path, key=b"another", types={"u": "text", "v": "text"})
    assert not set(records["id"]) & set(others["id"])


def test_minus_zero_is_zero_and_a_float_keeps_every_digit(tmp_path):
    frame = {"x": [0.0, -0.0, 0.1 + 0.2, 0.3], "y": ["a", "a", "b", "b"]}
    records, _, counts = made(frame, tmp_path)
    assert (len(records), counts["duplicates"]) == (3, 1)


def test_a_key_is_secret_unless_it_is_public(tmp_path):
    make_key(tmp_path / "one")
    make_key(tmp_path / "two")
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert read_key(tmp_path / "one") != read_key(tmp_path / "two")
    make_key(tmp_path / "one", "public")
    assert read_key(tmp_path / "one") == b"public"
    (tmp_path / "one").write_bytes(b"")
    with pytest.raises(AuditError, match="a key has 1 to 64 bytes"):
        read_key(tmp_path / "one")


def test_the_key_is_in_no_file_of_the_result(tmp_path):
    made(people(), tmp_path)
    inner = hmac.digest(KEY, json.dumps(["age", "job", "y"]).encode(), "sha256")
    content = b"".join(path.read_bytes() for path in tmp_path.rglob("*.parquet"))
    assert not any(secret in content for secret in (KEY, inner, hashlib.sha256(KEY).digest()))
