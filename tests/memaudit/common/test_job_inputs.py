"""An input by a name may be one path or several."""

from memaudit.common.job_inputs import several


def test_one_path_and_several_are_lists():
    assert several("a.parquet") == ["a.parquet"]
    assert several(["a.parquet", "b.parquet"]) == ["a.parquet", "b.parquet"]
    assert several([]) == []
