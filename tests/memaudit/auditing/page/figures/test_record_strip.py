"""A record is filled where its presence shows."""

from audit_examples import a_summary, value

from memaudit.auditing.page.figures.record_strip import record_strip
from memaudit.auditing.summaries.summary import Value


def test_rows_are_named_and_filled_where_the_presence_shows():
    shown = a_summary().exposed[0]
    hidden = shown.model_copy(update={"row": 4, "vulnerability": value(1, -1, 3, 0.0), "shows": False})
    alone = shown.model_copy(update={"row": 5, "vulnerability": Value(estimate=1.0), "shows": False})
    one = record_strip([shown, hidden, alone], 400, 3, "records")
    assert [one.drawing.count(f'<circle class="{paint}"') for paint in ("dot", "ring")] == [1, 2]
    assert one.drawing.count('class="whisker"') == 2
    assert ">row 17</text>" in one.drawing
    assert "(1 of these 3, 3 of all 400)" in one.caption


def test_an_empty_list_is_left_out():
    assert record_strip([], 400, 0, "records").reason == "no record has a vulnerability score"
