"""The script that judges shadow models: each condition of each table has its rows, whatever the order of its shards."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from shadow_grids import shadow_grid

from memaudit.common import tidy
from memaudit.common.io import read_table, write_grid
from memaudit.workflow.job import Paths

ARMS = {"slow": {"labels": "normal", "learning_rate": 1e-4}, "canaries": {"labels": "canaries", "learning_rate": 1e-3}}


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder, paths = tmp_path_factory.mktemp("shadows"), []
    for seed, (arm, fall) in enumerate({"slow": 0.0, "canaries": 1.0}.items()):
        grid = shadow_grid(np.random.default_rng(seed), in_context=fall, arm=arm)
        for at in range(2):
            paths.append(str(folder / f"{arm}-{at}.nc"))
            write_grid(grid.isel(model=slice(12 * at, 12 * at + 12)), paths[-1])
    return paths


def judge(shards, folder):
    params = SimpleNamespace(seed=1, permutations=199, replicates=20, arms=ARMS)
    output = Paths([f"tidy={folder}/tidy.parquet"])
    facts = load_script("iclmem_judge_shadows").main(SimpleNamespace(input=shards, output=output, params=params))
    assert facts == {"seed": 1}
    return tidy.expand(read_table(output.tidy))


def test_each_condition_has_its_rows_with_its_labels(shards, tmp_path):
    table = judge(shards, tmp_path)
    verdicts = table[table["metric"] == "auc of the ground truth"].set_index("arm")
    assert verdicts["probe"].to_dict() == {"canaries": "misses", "slow": "has nothing to miss"}
    assert verdicts["labels"].to_dict() == {"canaries": "canaries", "slow": "normal"}
    counts = table[table["metric"] == "shadow models"]
    assert (counts["estimate"] == 24).all()
    assert (counts["n"] == 24).all()


def test_the_order_of_the_shards_does_not_matter(shards, tmp_path):
    first, second = (judge(order, tmp_path) for order in (shards, shards[::-1]))
    pd.testing.assert_frame_equal(first, second)
