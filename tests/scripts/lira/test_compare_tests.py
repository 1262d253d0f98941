"""Power of the one-sided test against the best one, from a planted matrix."""

from lira_grids import LIRA, MEMBERS, call, results


def test_gaps_and_powers_are_those_that_were_planted(grid_path, tmp_path):
    call("lira_compare_tests", [grid_path], [tmp_path / "v.parquet"], fpr=LIRA["fpr"], replicates=20)
    rows = results(tmp_path / "v.parquet")
    of = rows[rows.fpr == 0.1].set_index("metric")
    assert of.loc["members score lower"].estimate == 0
    # Phi(2 - 1.28) = .76, and equal variances.
    assert 0.7 < of.loc["TPR one-sided"].estimate < 0.82
    assert of.loc["TPR best"].estimate >= of.loc["TPR one-sided"].estimate
    assert 0.9 < of.loc["sigma_in / sigma_out"].estimate < 1.1
    assert (rows.n == MEMBERS).all()
