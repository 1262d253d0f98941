"""The page's section on GPUs: what was measured, what is missing, and where nothing was."""

from memaudit.report import gpu_section

MACHINE = {"name": "NVIDIA H200", "matmul_size": 8192, "peak_tflops": {"fp32": 67, "bf16": 989.4}}
MACHINE |= {"matmul_tflops": {"fp32": 50.2, "bf16": 701.0}}
RATE = {"name": "tabicl_v2 bf16", "outcome": "measured", "network": "tabicl_v2", "dtype": "bf16", "tables_per_pass": 4}
RATE |= {"rows_per_second": 123456.7, "tflops": 101.2, "share_of_peak": 0.1023, "share_of_matmul": 0.144}
RATE |= {"peak_mib": 43210.4, "bound_by": "attention"}
FULL = {"name": "tabpfn_v2 fp32", "outcome": "out of memory", "message": "CUDA out of memory. Tried to allocate 2 GiB"}


def record(part, *cases, **changes):
    facts = {"part": part, "size": "published", "device": "NVIDIA H200", "versions": {"torch": "2.13.0"}}
    return facts | {"machine": MACHINE, "status": "finished", "cases": list(cases)} | changes


def test_without_measurements_the_page_says_so():
    assert gpu_section.section({}) == gpu_section.NONE
    assert gpu_section.section({"gpu_rates": record("rates", RATE, size="smallest")}) == gpu_section.NONE
    assert "`make gpu`" in gpu_section.NONE


def test_a_measured_part_is_a_table_and_the_others_are_named():
    page = gpu_section.section({"gpu_rates": record("rates", RATE)})
    assert page.startswith("NVIDIA H200, torch 2.13.0, by `make gpu`.")
    assert "| bf16 | 989 | 701 |" in page
    assert "| tabicl_v2 | bf16 | 4 | 123457 | 101 | 10% | 14% | 43210 | attention |" in page
    assert page.count("Not measured yet.") == len(gpu_section.PARTS) - 1


def test_what_found_too_little_memory_is_not_hidden():
    unfinished = record("rates", RATE, FULL, status="unfinished", cause="not reached: tabpfn_v2 bf16")
    page = gpu_section.section({"gpu_rates": unfinished})
    assert "- tabpfn_v2 fp32: out of memory (`CUDA out of memory. Tried to allocate 2 GiB`)" in page
    assert "- Unfinished: not reached: tabpfn_v2 bf16." in page


def test_an_unknown_chip_and_a_part_that_never_started():
    unknown = MACHINE | {"peak_tflops": None}
    rate = record("rates", RATE | {"share_of_peak": None}, machine=unknown)
    dead = {
        key: value for key, value in record("grid", status="unfinished", cause="it died").items() if key != "machine"
    }
    page = gpu_section.section({"gpu_rates": rate, "gpu_grid": dead})
    assert "| bf16 | - | 701 |" in page
    assert "- Unfinished: it died." in page


def test_parts_of_two_devices_are_told_apart():
    page = gpu_section.section({"gpu_rates": record("rates", RATE), "gpu_grid": record("grid", device="NVIDIA L4")})
    assert "On NVIDIA L4." in page
    assert "On NVIDIA H200." in page
