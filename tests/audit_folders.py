"""Folders as finished audits leave them, for tests of what reads them."""

import json

import pandas as pd
import yaml
from audit_examples import FACTS, a_summary

RISK = [(17, 3.0, 2.0, 4.0, True), (4, 1.0, -0.5, 2.5, False), (9, 0.5, None, None, False)]


def finished(
    folder, seed=1, threats=("labels", "probabilities"), summary=None, copies=True, code="c0de", commit="1" * 40
):
    """Write an audit of 500 rows: 17, 4 and 9 are rated; 5 equals 4, 6 is held out, 7 was not sampled, 8 not read."""
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text((summary or a_summary()).model_dump_json())
    risk = pd.DataFrame(RISK, columns=["row", "vulnerability", "low", "high", "shows"])
    risk["id"] = [f"id{row}" for row in risk["row"]]
    risk["posterior_0.1"], risk["rank"] = [0.8, 0.3, 0.1], [1, 2, 3]
    risk.to_parquet(folder / "risk.parquet")
    config = {"run": "full", "seed": seed, "audit": {"threats": list(threats), "plan": {"sets": 32}, "by": []}}
    (folder / "full.yaml").write_text(yaml.safe_dump(config))
    step = folder / "results/full/provenance/audit_rate_records/table.json"
    step.parent.mkdir(parents=True)
    record = {"rule": "audit_rate_records", "code": code, "git": {"commit": commit, "dirty": False}}
    step.write_text(json.dumps(record))
    if copies:
        data = folder / "results/full/data/table"
        (data / "splits").mkdir(parents=True)
        (folder / "table").mkdir()
        (folder / "table/facts.json").write_text(json.dumps(FACTS))
        rows = {17: "id17", 4: "id4", 9: "id9", 5: "id4", 6: "id6", 7: "id7"}
        pd.DataFrame({"id": rows.values(), "row": rows.keys()}).to_parquet(data / "rows.parquet")
        sides = {"id17": "members", "id4": "members", "id9": "members", "id6": "nonmembers"}
        pd.DataFrame({"id": sides.keys(), "side": sides.values()}).to_parquet(data / "splits/audit.parquet")
    return folder
