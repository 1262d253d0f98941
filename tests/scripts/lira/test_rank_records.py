"""Agreement of halves and records detected on their own, with and without a planted leak; powers of two tests."""

from lira_grids import LIRA, MEMBERS, call, results


def ranked(path, folder, replicates=10):
    files = [f"{name}={folder}/{name}.parquet" for name in ("reliability", "variances")]
    call("lira_rank_records", [path], files, sizes=[64], fpr=LIRA["fpr"], replicates=replicates)
    return results(folder / "reliability.parquet").set_index("metric")


def test_a_planted_leak_is_detected_in_most_records_and_none_without(grid_path, null_path, tmp_path):
    leak, none = ranked(grid_path, tmp_path), ranked(null_path, tmp_path)
    assert leak.loc["records_detected"].estimate > 0.9
    assert none.loc["records_detected"].estimate < 0.1
    assert leak.loc["records_detected"].null < 0.1
    assert {"spearman", "spearman_brown", "records_detected"} <= set(leak.index)


def test_gaps_and_powers_are_those_that_were_planted(grid_path, tmp_path):
    ranked(grid_path, tmp_path, replicates=20)
    rows = results(tmp_path / "variances.parquet")
    of = rows[rows.fpr == 0.1].set_index("metric")
    assert of.loc["members score lower"].estimate == 0
    # Phi(2 - 1.28) = .76, and equal variances.
    assert 0.7 < of.loc["TPR one-sided"].estimate < 0.82
    assert of.loc["TPR best"].estimate >= of.loc["TPR one-sided"].estimate
    assert 0.9 < of.loc["sigma_in / sigma_out"].estimate < 1.1
    assert (rows.n == MEMBERS).all()
