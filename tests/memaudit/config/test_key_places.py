"""The place of a key is that in the last file which has it."""

import pytest

from memaudit.config.key_places import place

FIRST = "run: a\nlira:\n  datasets: [wine]\n  arms:\n    - {model: x}\n    - model: y\n"


@pytest.fixture
def files(tmp_path):
    texts = {"first.yaml": FIRST, "second.yaml": "# mine\nrun: b\n", "broken.yaml": "a: [", "empty.yaml": ""}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in [*texts, "missing.yaml"]]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["run"], "second.yaml, line 2"),
        (["lira", "datasets"], "first.yaml, line 3"),
        (["lira", "datasets", "0"], "first.yaml, line 3"),
        (["lira", "arms", "1", "model"], "first.yaml, line 6"),
        (["lira", "absent"], "first.yaml, line 2"),
        (["absent", "key"], ""),
        (["absent"], ""),
        (["run", "deep", "key"], ""),
    ],
)
def test_a_key_has_the_line_of_the_last_file_that_has_it(files, path, expected):
    assert place(path, files) == (f" ({files[0].parent}/{expected})" if expected else "")
