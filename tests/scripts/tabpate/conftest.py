"""Records of a tiny table in a folder, and a mechanism that gives all records away."""

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from tabpate_tables import FACTS, RECORDS, Neighbour

from memaudit.common.io import write_json, write_table
from memaudit.data.record_ids import make_key
from memaudit.privacy.tabpate_release import Released


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Labels that nothing predicts, so that only who remembers a record is right about it; two records a unit."""
    for name in ("release_contexts", "query_students", "release_shadows", "poison_shadows"):
        monkeypatch.setattr(load_script(f"tabpate_{name}"), "load", lambda *_: Neighbour())
    rng = np.random.default_rng(0)
    records = pd.DataFrame(rng.uniform(-4, 4, (RECORDS, 2)), columns=["age", "wage"])
    records["target"] = rng.permutation(np.repeat(["p", "q"], RECORDS // 2))
    records.insert(0, "id", [f"r{i:02d}" for i in range(RECORDS)])
    records.insert(1, "group", [f"u{i // 2:02d}" for i in range(RECORDS)])
    write_table(records, tmp_path / "records.parquet")
    columns = [{"name": name, "type": "numeric"} for name in ("age", "wage")]
    write_json({"task": "classification", "columns": columns}, tmp_path / "schema.json")
    (tmp_path / "towns.yaml").write_text(FACTS.format(task="classification", target='["p", "q"]'))
    write_json({}, tmp_path / "model.json")
    make_key(tmp_path / "key", "a test")
    return tmp_path


@pytest.fixture
def table(tmp_path):
    records = pd.DataFrame({"id": [f"r{i:02d}" for i in range(RECORDS)]})
    records["target"] = np.where(np.arange(RECORDS) % 2, "q", "p")
    write_table(records[::-1], tmp_path / "records.parquet")
    (tmp_path / "towns.yaml").write_text(FACTS.format(task="classification", target='["q", "p"]'))
    return tmp_path


@pytest.fixture
def handed(monkeypatch):
    """What the mechanism is given, which here gives all of it away: records, their units, and draws of its queries."""
    given = []

    def released(entry, private, budget, predict, rng):
        given.append((entry["method"], private, budget, rng.random(3).tolist()))
        return Released(private.x, private.y, 0, 0, {})

    monkeypatch.setattr("memaudit.studies.tabpate.shadow_students.released", released)
    return given
