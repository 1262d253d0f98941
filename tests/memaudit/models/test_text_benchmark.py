"""The benchmark of the shipped language model: contexts with every class, and numbers that can be computed again."""

import numpy as np
import pytest

from memaudit.common.io import read_json
from memaudit.models.text_benchmark import QUERIES, draws, scores
from memaudit.statistics.roc import auc

pytestmark = pytest.mark.usefixtures("one_thread")


def test_contexts_have_the_classes_and_share_no_record_with_their_queries():
    for schema, x, y, new_x, new_y in draws("wine", 16, 3, seed=0):
        assert len(schema["columns"]) == x.shape[1] == new_x.shape[1]
        assert len(x) == 16
        assert set(y) == set(new_y)
        assert np.bincount(new_y).tolist() == [QUERIES] * 3
        assert not {row.tobytes() for row in x} & {row.tobytes() for row in new_x}


@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
def test_the_shipped_weights_give_the_shipped_numbers(project, name):
    folder = project / "resources/text-small"
    benchmark = read_json(folder / "benchmark.json")
    listed = benchmark["data"][f"{name}, 16 rows"]
    for number, context in enumerate(draws(name, 16, 2, benchmark["seed"])):
        for key, value in scores(folder, *context, auc).items():
            assert value == pytest.approx(listed[key][number], abs=0.05), key
