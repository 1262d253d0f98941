"""Tables of people, models fitted on them, and hostile pickles, for tests of `./memaudit scan`."""

import os
import pickle
import struct

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PowerTransformer, StandardScaler

ROWS = 200
NUMBERS = ["age", "income", "score"]


def people(seed=0, rows=ROWS):
    """A table of numbers with few and with many different values, a category and two classes."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "income": rng.normal(3e4, 1e4, rows).round(2),
            "region": rng.choice(["Zqx-north", "Zqx-south", "Zqx-east"], rows),
            "score": rng.random(rows).round(4),
            "churn": rng.choice(["Zqx-yes", "Zqx-no"], rows),
        }
    )


def fitted(estimator, table, scaler=None):
    """A pipeline fitted on the table: numbers scaled, the category as codes behind them."""
    encoder = make_column_transformer((scaler or StandardScaler(), NUMBERS), (OrdinalEncoder(), ["region"]))
    return make_pipeline(encoder, estimator).fit(table.drop(columns="churn"), table["churn"])


def neighbours(table, **options):
    """A nearest-neighbour classifier, which holds the table that it is fitted on."""
    return fitted(KNeighborsClassifier(**options), table)


def holding(table):
    """Objects that hold the rows of the table, by name."""
    part = table.sample(frac=0.7, random_state=1)
    return {
        "standardised": neighbours(table, algorithm="brute"),
        "in a tree": neighbours(table, algorithm="kd_tree"),
        "power transform": fitted(KNeighborsClassifier(), table, PowerTransformer()),
        "a random part, standardised": neighbours(part),
        "a random part, single precision": KNeighborsClassifier().fit(part[NUMBERS].astype("float32"), part["churn"]),
        "six rows": KNeighborsClassifier(2).fit(table[["income", "score"]][:6], table["churn"][:6]),
        "columns the other way round": np.asarray(table[NUMBERS[::-1]], "float32"),
        "a frame": table,
        "a shuffled frame": part,
        "lists": table.to_numpy().tolist(),
        "a structured array": table[NUMBERS].to_records(index=False),
        "a part of a larger table": pd.concat([people(7, 2000), table[:60]]).sample(frac=1, random_state=2),
    }


def free_of(table):
    """Objects that hold no row of it, fitted on the table or on another one of the same population."""
    other = people(9, len(table))
    return {
        "logistic regression": fitted(LogisticRegression(), table),
        "a forest of depth 2": fitted(RandomForestClassifier(max_depth=2), table),
        "neighbours of another table": neighbours(other, algorithm="kd_tree"),
        "another frame": other,
        "another frame, sorted": other.sort_values("income"),
        "a larger one": people(5, 5000),
        "other rows as lists": other.to_numpy().tolist(),
        "row numbers": {"index": np.arange(len(table)), "ones": np.ones(len(table)), "half": np.arange(2000) / 2},
    }


class Runs:
    """A pickle of it runs a command when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def laughs(depth=60):
    """A tuple of two references to a tuple of two references ...: 2^depth leaves, as the key of a dict."""
    return b"\x80\x04}" + b")" + b"\x942\x86" * depth + b"K\x01s."


def hostile(marker):
    """Bytes of files that must end in one line, by name. marker: a file that none of them may create."""
    whole = pickle.dumps(people())
    return {
        "runs a command": pickle.dumps(Runs(marker)),
        "runs a command by name": f"cos\nsystem\n(S'touch {marker}'\ntR.".encode(),
        "runs a command as an object of protocol 0": f"(ios\nsystem\n(S'touch {marker}'\no.".encode()[:-2] + b".",
        "lists within lists": b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".",
        "tuples within tuples": b"\x80\x04)" + b"\x85" * 100_000 + b".",
        "a billion laughs": laughs(),
        "cut off": whole[: len(whole) // 2],
        "a text of 4 GB": b"\x80\x04X" + struct.pack("<I", 0xFFFFFFFF) + b"a.",
        "a text of 2^62 bytes": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"a.",
        "a number of 2 GB": b"\x80\x04\x8b" + struct.pack("<i", 0x7FFFFFFF) + b"a.",
        "nothing": b"",
        "a stop": b".",
        "no pickle": b"age,income\n1,2\n",
        "random bytes": np.random.default_rng(0).bytes(5000),
        "zeros": bytes(1000),
        "a damaged zip": b"PK\x03\x04" + bytes(100),
        "a damaged gzip": b"\x1f\x8b\x08" + bytes(100),
        "a damaged header of safetensors": struct.pack("<Q", 60) + b'{"a": {"dtype": "F32", "shape": [9]' + bytes(100),
        "a damaged npy": b"\x93NUMPY\x01\x00" + bytes(100),
        "memo that is not there": b"\x80\x04h\x07.",
    }
