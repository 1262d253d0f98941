"""Rates and the time of a grid: arithmetic, intervals, and which grids are run whole."""

import pytest

from memaudit.gpu_measurements import shadow_grids
from memaudit.gpu_measurements.resumable_parts import LeftOut, NotReached, Setup
from memaudit.gpu_measurements.shadow_grids import SMALLEST, rate, sample, shares_of_peak, tables_of_pass, whole

MACHINE = {"peak_tflops": {"fp32": 67, "bf16": 989.4}, "matmul_tflops": {"fp32": 50.0, "tf32": 400.0, "bf16": 700.0}}


def setup(**changes):
    return Setup(**{"device": "cpu", "smallest": True, "limit": 100.0, "machine": MACHINE} | changes)


def test_shares_are_of_the_data_sheet_and_of_the_measured_product():
    found = shares_of_peak(33.5, "fp32", setup())
    assert found == {"tflops": 33.5, "share_of_peak": 0.5, "share_of_matmul": 0.67}
    unknown = setup(machine=MACHINE | {"peak_tflops": None})
    assert shares_of_peak(35.0, "bf16", unknown) == {"tflops": 35.0, "share_of_peak": None, "share_of_matmul": 0.05}


def test_a_rate_follows_from_the_seconds():
    found = rate("tabicl_v2", "fp32", {"rows": 40, "context_rows": 20, "features": 4}, setup())
    assert found["rows_per_second"] == pytest.approx(40 / found["seconds"])
    assert found["tflops"] == pytest.approx(found["operations_per_table"] / found["seconds"] / 1e12)
    assert sum(found["kernel_shares"].values()) == pytest.approx(1)


def test_a_pass_holds_what_memory_and_kernels_allow():
    shape = (5000, 10000, 14)
    assert tables_of_pass(object(), shape, 140_000) == 4  # 65,535 rows
    assert tables_of_pass(object(), shape, 10_000) == 2  # half of the memory, 2.1 GiB a table
    assert tables_of_pass(object(), shape, 1_000) == 1


def test_a_grid_is_extrapolated_with_an_interval_around_its_mean():
    found = sample("tabicl_v2", "fp32", SMALLEST, setup())
    assert found["models_measured"] == SMALLEST["block"] * found["repetitions"]
    assert found["extrapolated_seconds"] == pytest.approx(SMALLEST["models"] * found["seconds_per_model"])
    assert found["extrapolated_low"] < found["extrapolated_seconds"] < found["extrapolated_high"]


def test_a_grid_is_run_whole_only_where_the_time_allows():
    def predicted(seconds, **changes):
        done = {"tabicl_v2 fp32 sample": {"extrapolated_seconds": seconds}}
        return setup(done=done, **changes)

    with pytest.raises(LeftOut, match="200 s are predicted, the limit is 100 s"):
        whole("tabicl_v2", "fp32", SMALLEST, predicted(200))
    with pytest.raises(NotReached, match="50 s are predicted"):
        whole("tabicl_v2", "fp32", SMALLEST, predicted(50, ends=0.0))
    with pytest.raises(LeftOut, match="sample was not measured"):
        whole("tabpfn_v3", "fp32", SMALLEST, predicted(1))
    assert whole("tabicl_v2", "fp32", SMALLEST, predicted(1))["seconds"] > 0


def test_a_signal_that_is_no_number_is_an_error(monkeypatch):
    monkeypatch.setattr(shadow_grids, "logit_signals", lambda *_, **__: float("nan"))
    with pytest.raises(ValueError, match="not a number"):
        sample("tabicl_v2", "fp32", SMALLEST, setup())


def test_both_networks_of_the_aims_are_sampled_before_any_is_run_whole():
    names = [case.name for case in shadow_grids.grid_cases(False)]
    assert names[:2] == ["tabicl_v2 fp32 sample", "tabpfn_v3 fp32 sample"]
    assert [name.endswith("whole") for name in names] == 4 * [False] + 4 * [True]
