"""Agreement of halves and records detected on their own, with and without a planted leak."""

from lira_grids import call, results


def ranked(path, folder):
    call("lira_rank_records", [path], [folder / "r.parquet"], sizes=[64], splits=10)
    return results(folder / "r.parquet").set_index("metric")


def test_a_planted_leak_is_detected_in_most_records_and_none_without(grid_path, null_path, tmp_path):
    leak, none = ranked(grid_path, tmp_path), ranked(null_path, tmp_path)
    assert leak.loc["records_detected"].estimate > 0.9
    assert none.loc["records_detected"].estimate < 0.1
    assert leak.loc["records_detected"].null < 0.1
    assert {"spearman", "spearman_brown", "records_detected"} <= set(leak.index)
