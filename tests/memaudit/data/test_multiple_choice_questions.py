"""Multiple-choice questions in the formats of MMLU, ARC and ETHICS."""

import json

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.data.multiple_choice_questions import read_choices


def test_questions_are_read_as_their_makers_share_them(tmp_path):
    texts = [["red", "blue", "green"], ["yes", "no"]]
    shared = {"question": ["Which?", "Is it?"]}
    columns = {"question": "question", "choices": "choices", "answer": "answer", "options": None}
    pd.DataFrame(shared | {"choices": texts, "answer": [2, 0]}).to_parquet(tmp_path / "mmlu.parquet")
    plain = read_choices(tmp_path / "mmlu.parquet", columns)
    assert plain.prompts()[1] == "Question: Is it?\nA. yes\nB. no\nAnswer:"
    labelled = [{"text": texts[0], "label": ["1", "2", "3"]}, {"text": texts[1], "label": ["A", "B"]}]
    pd.DataFrame(shared | {"choices": labelled, "answerKey": ["3", "A"]}).to_parquet(tmp_path / "arc.parquet")
    arc = read_choices(tmp_path / "arc.parquet", columns | {"answer": "answerKey"})
    lines = [json.dumps({"input": text, "label": label}) for text, label in (("I lied.", 1), ("I came.", 0))]
    (tmp_path / "ethics.jsonl").write_text("\n".join(lines))
    own = {"question": "input", "choices": None, "answer": "label", "options": ["fine", "wrong"]}
    assert read_choices(tmp_path / "ethics.jsonl", own).choices == [["fine", "wrong"]] * 2
    assert plain.answers.tolist() == arc.answers.tolist() == [2, 0]
    assert plain.choices == arc.choices == texts
    pd.DataFrame(shared | {"choices": texts, "answer": [3, 0]}).to_parquet(tmp_path / "bad.parquet")
    for name, given, line in (
        ("gone.parquet", columns, "gone.parquet: does not exist; download"),
        ("mmlu.parquet", columns | {"answer": "key"}, "has no column 'key'; it has question, choices, answer"),
        ("bad.parquet", columns, "row 0 has 3 choices and the answer 3"),
    ):
        with pytest.raises(AuditError, match=line):
            read_choices(tmp_path / name, given)
