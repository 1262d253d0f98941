"""The audit of releases is resumed where it ended."""

from types import SimpleNamespace

from conftest import load_script

from memaudit.common.io import read_json, write_json

SCRIPT = "maintenance_audit_release"


def test_one_condition_is_measured_and_kept(tmp_path):
    script, path = load_script(SCRIPT), tmp_path / "audit.json"
    params = {"runs": 100, "canaries": 50, "only": ["one release: as released"]}
    job = SimpleNamespace(output=[str(path)], params=SimpleNamespace(**params))
    script.main(job)
    (row,) = read_json(path)["conditions"].values()
    assert row["n"] == 50
    write_json({"conditions": {"one release: as released": row | {"mu_bound": 7.0}, "gone": row}}, path)
    script.main(SimpleNamespace(output=job.output, params=SimpleNamespace(**params | {"only": ["votes: as released"]})))
    kept = read_json(path)["conditions"]
    assert kept["one release: as released"]["mu_bound"] == 7.0
    assert len(kept) == 2
