"""Numbers of training combinations with a fixed number of texts."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import load_script
from ltmia_pipeline import TRAIN, TRAINING

from memaudit.common.errors import AuditError
from memaudit.common.io import read_table
from memaudit.studies.ltmia.target_combinations import open_combinations

pytestmark = pytest.mark.usefixtures("one_thread")


def test_diversity_holds_the_number_of_texts(made):
    drawn = read_table(made / "diversity.parquet")
    assert drawn.groupby(["combinations", "draw"]).ngroups == 4
    in_training = drawn[
        [name in map(tuple, TRAINING) for name in drawn[["model", "dataset", "tuning"]].itertuples(index=False)]
    ]
    assert in_training.groupby(["combinations", "draw"])["dataset"].nunique().tolist() == [1, 1, 2, 2]
    script = load_script("ltmia_measure_diversity")
    few = SimpleNamespace(**TRAIN, samples=1000)
    table = {("a", "b", "full"): open_combinations([made / "0.npy"], [made / "0.parquet"])["gpt2", "letters", "full"]}
    with pytest.raises(AuditError, match=r"ltmia/diversity/samples: a b full has .* 1000 are needed"):
        script.fitted(few, table, np.random.default_rng(0), "cpu")


def test_combinations_are_drawn_of_all_tunings_and_as_many_of_each_alone():
    pools = load_script("ltmia_measure_diversity").pools
    named = [("a", "x", "full"), ("a", "y", "full"), ("b", "x", "weak"), ("c", "x", "full"), ("b", "y", "weak")]
    found = {(strength, count): names for strength, names, count in pools(named, [1, 5])}
    assert found == {
        ("", 1): named,
        ("", 5): named,
        ("full", 2): [named[0], named[1], named[3]],
        ("weak", 2): [named[2], named[4]],
    }
    assert [strength for strength, *_ in pools(named[:2], [1])] == [""]
    assert list(pools(named, [])) == []
