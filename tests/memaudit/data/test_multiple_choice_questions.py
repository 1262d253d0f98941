"""Multiple-choice questions in the formats of MMLU, ARC and ETHICS."""

import json

import pandas as pd
import pytest
from packed_files import packed

from memaudit.common.checksums import sha256
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


def test_ethics_is_read_from_its_archive(tmp_path):
    """A sentence may have commas and quotes; columns that are not asked for are left alone."""
    lines = 'label,input,is_short,edited\n0,"I came, ""late"".",True,False\n1,I lied.,True,False\n'
    path = packed(tmp_path / "ethics.tar", {"ethics/commonsense/cm_train.csv": lines.encode()}, "w")
    columns = {"question": "input", "choices": None, "answer": "label", "options": ["not wrong", "wrong"]}
    inside = columns | {"member": "ethics/commonsense/cm_train.csv", "sha256": sha256(path)}
    found = read_choices(path, inside)
    assert found.questions == ['I came, "late".', "I lied."]
    assert found.answers.tolist() == [0, 1]
    (tmp_path / "ethics.csv").write_text(lines)
    assert read_choices(tmp_path / "ethics.csv", columns).prompts() == found.prompts()


@pytest.mark.parametrize("name", ["mmlu.parquet", "ethics.jsonl", "ethics.csv"])
def test_a_file_with_another_checksum_is_refused_before_it_is_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"an error page, not the questions")
    columns = {
        "question": "input",
        "choices": None,
        "answer": "label",
        "options": ["fine", "wrong"],
        "sha256": "0" * 64,
    }
    with pytest.raises(AuditError, match=rf"questions: sha256 of .*{name} is \w+, the config says 0000.*; fetch it"):
        read_choices(tmp_path / name, columns)
