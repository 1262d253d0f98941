"""Tidy results and the tables that show them."""

import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.plotting import result_tables


def rows():
    grid = [(name, m, strategy) for name in ("wine", "iris") for m in (1, 2) for strategy in ("naive", "pp")]
    keys = [{"dataset": name, "models": m, "strategy": strategy} for name, m, strategy in grid]
    return tidy.frame([tidy.row("lira", key, "tpr", 0.1 * key["models"], low=0.01, high=0.2) for key in keys])


def test_a_layout_shows_estimates_with_their_intervals():
    table = result_tables.arrange(tidy.expand(rows()), ["dataset", "models"], ["strategy"], {"dataset": "wine"})
    assert table.columns.tolist() == ["dataset", "models", "naive", "pp"]
    first, second = table.to_numpy().tolist()
    assert first == ["wine", 1, "0.1 [0.01, 0.2]", "0.1 [0.01, 0.2]"]
    assert second == ["wine", 2, "0.2 [0.01, 0.2]", "0.2 [0.01, 0.2]"]


def test_a_key_of_rows_that_no_result_has_is_left_out():
    results = tidy.expand(rows())
    keys = ["dataset", "models", "peak"]
    assert result_tables.arrange(results, keys, ["strategy"]).columns.tolist() == ["dataset", "models", "naive", "pp"]


def test_a_layout_that_forgets_a_key_is_refused():
    with pytest.raises(ValueError, match="two results for one cell"):
        result_tables.arrange(tidy.expand(rows()), ["dataset"], ["strategy"])


def test_names_from_data_are_escaped(tmp_path):
    result_tables.write(pd.DataFrame({"name": ["a|b_<i>&%"], "x": [0.123456]}), tmp_path / "t")
    assert (tmp_path / "t.md").read_text().splitlines()[-1] == r"| a\|b_&lt;i&gt;&% | 0.123 |"
    assert r"a|b\_\textless{}i\textgreater{}\&\%" in (tmp_path / "t.tex").read_text()
    assert "0.123456" in (tmp_path / "t.csv").read_text()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("p <= .05, a > b, 1<2", "p <= .05, a > b, 1<2"),
        ("1 < 2 <b>x</b>", "1 &lt; 2 &lt;b&gt;x&lt;/b&gt;"),
        ("<!-- y <img src=z", "&lt;!-- y &lt;img src=z"),
        ("<https://example.org>", "&lt;https://example.org&gt;"),
    ],
)
def test_comparisons_stay_readable_in_markdown_and_tags_are_text(text, written):
    assert result_tables.texts_table(["text"], [[text]]).splitlines()[-1] == f"| {written} |"


def test_brackets_parentheses_and_decisions_are_explained_below_the_markdown(tmp_path):
    lines = [
        tidy.row("lira", {"dataset": "wine"}, "auc", 0.6, low=0.5, high=0.7, null=0.5),
        tidy.row("lira", {"dataset": "wine"}, "auc detected", 1.0, unit="yes or no"),
    ]
    layout = {"rows": ["dataset"], "columns": ["metric"]}
    legend = "In brackets: 95 % interval. Where a result is yes or no, 1 is yes and 0 is no."
    for null, text in ((False, legend), (True, legend.replace("Where", "In parentheses: the value by chance. Where"))):
        result_tables.write(tidy.expand(tidy.frame(lines)), tmp_path / "t", layout | {"null": null})
        assert (tmp_path / "t.md").read_text().splitlines()[-2:] == ["", text]
    result_tables.write(tidy.expand(tidy.frame(lines[1:])), tmp_path / "t", layout | {"where": {"metric": "none"}})
    assert (tmp_path / "t.md").read_text().splitlines()[-1].startswith("| :--")


def test_the_csv_file_holds_the_lines_of_its_table_alone(tmp_path):
    lines = [tidy.row("lira", {"arm": arm}, "auc", 0.6) for arm in ("shown", "of another table")]
    table = tidy.expand(tidy.frame(lines))
    result_tables.write(table, tmp_path / "t", {"rows": ["arm"], "columns": ["metric"], "where": {"arm": ["shown"]}})
    assert "of another table" not in "".join((tmp_path / f"t.{kind}").read_text() for kind in ("csv", "md", "tex"))
    assert pd.read_csv(tmp_path / "t.csv")["arm"].tolist() == ["shown"]


def test_a_layout_can_show_the_null_beside_the_estimate():
    row = tidy.row("lira", {"dataset": "wine"}, "auc", 0.6, low=0.5, high=0.7, null=0.5)
    assert (
        result_tables.arrange(tidy.expand(tidy.frame([row])), ["dataset"], ["metric"], null=True)["auc"][0]
        == "0.6 [0.5, 0.7] (0.5)"
    )


def test_results_of_constant_students_are_starred_in_tables_for_readers(tmp_path):
    keys = [{"dataset": "wine", "arm": arm, "epsilon": epsilon} for arm in ("ours", "theirs") for epsilon in (1, 10)]
    rows = [tidy.row("tabpate", key, "accuracy", 0.5) for key in keys]
    rows.append(tidy.row("tabpate", keys[0], "constant students", 1))
    rows.append(tidy.row("tabpate", keys[0] | {"source": "paper"}, "accuracy", 0.6))  # of the paper's own student
    layout = {"rows": ["arm", "epsilon", "source"], "columns": ["metric"], "where": {"metric": "accuracy"}}
    result_tables.write(tidy.expand(tidy.frame(rows)), tmp_path / "table", layout)
    lines = (tmp_path / "table.md").read_text().splitlines()[2:]
    assert [line.count("*") for line in lines[:5]] == [1, 0, 0, 0, 0]
    assert lines[6] == "With a star: a student is constant in at least one repeat, and attacks on it prove nothing (*)."
    assert "0.5* |" in lines[0]


def test_a_result_without_a_value_says_that_its_data_are_too_few():
    row = tidy.row("s", {"a": 1}, "tpr@0.01", tidy.NAN, method="too few: 25 non-members, 100 are needed", null=0.01)
    table = tidy.expand(tidy.frame([row, tidy.row("s", {"a": 2}, "tpr@0.01", 0.5, method="bootstrap")]))
    assert result_tables.arrange(table, ["a"], ["metric"], null=True)["tpr@0.01"].tolist() == ["too few", "0.5"]
