"""The progress bar of a job's log changes nothing of what it counts."""

from memaudit.common.progress_bar import steps


def test_rows_come_out_as_they_went_in(capsys):
    assert list(steps(range(5), "rows")) == [0, 1, 2, 3, 4]
    assert "rows" in capsys.readouterr().err


def test_a_count_can_be_kept_by_hand(capsys):
    with steps(total=3, what="bytes") as bar:
        bar.update(3)
    assert "3/3" in capsys.readouterr().err
