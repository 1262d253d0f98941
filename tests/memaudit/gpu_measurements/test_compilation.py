"""Cases of compilation; a compiled run itself is one of tests/scripts/bench/test_measure_gpu.py."""

import pytest

from memaudit.gpu_measurements import compilation
from memaudit.gpu_measurements.resumable_parts import LeftOut, Setup


def test_both_modes_are_compared_for_both_families_and_sizes():
    cases = compilation.cases(smallest=False)
    assert len({case.name for case in cases}) == 8
    assert {case.facts["mode"] for case in cases} == compilation.MODES.keys()


def test_cuda_graphs_need_a_gpu():
    setup = Setup("cpu", smallest=True, limit=60.0)
    with pytest.raises(LeftOut, match="needs a GPU"):
        compilation.compare("tabicl_v2", "fp32", "compiled with CUDA graphs", compilation.SMALLEST, setup)
