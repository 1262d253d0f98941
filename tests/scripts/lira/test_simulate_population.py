"""The simulated bias of finite populations, and its correction."""

from lira_grids import call, results

from memaudit.common.io import read_table

SIMULATION = {
    "repeats": 2, "models": 256, "population": 100, "dimensions": 40, "sizes": [50],
    "draws": ["fixed_size", "bernoulli"],
}  # fmt: skip


def test_the_bias_is_the_root_of_the_correction_and_is_corrected(tmp_path):
    outputs = [f"tidy={tmp_path}/tidy.parquet", f"records={tmp_path}/records.parquet"]
    call("lira_simulate_population", [], outputs, simulation=SIMULATION)
    rows = results(tmp_path / "tidy.parquet").set_index(["draw", "side", "metric"]).estimate
    assert abs(rows["fixed_size", "out", "ratio_before"] - (1 - 50 / 99) ** 0.5) < 0.03
    assert abs(rows["fixed_size", "out", "ratio_after_exact"] - 1) < 0.04
    assert len(read_table(tmp_path / "records.parquet")) == 4 * 100
