"""Lines on the screen: names as they are read, without what a terminal obeys, and in any encoding."""

import io
import sys

import pytest

from memaudit.common.screen_lines import SHOWN, WIDEST, alike, listed, show, write_line


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "memaudit: 'Größe (€)' Übergabe\n"),
        ("latin-1", "memaudit: 'Größe (\\u20ac)' Übergabe\n"),
        ("ascii", "memaudit: 'Gr\\xf6\\xdfe (\\u20ac)' \\xdcbergabe\n"),
    ],
)
def test_signs_that_an_encoding_cannot_show_are_escaped(monkeypatch, encoding, shown):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    show([f"{'Größe (€)'!r} Übergabe"])
    assert stream.buffer.getvalue().decode(encoding) == shown


def test_a_stream_without_an_encoding_has_every_sign(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    show(["Größe", "Straße"])
    assert sys.stdout.getvalue() == "memaudit: Größe\nmemaudit: Straße\n"


@pytest.mark.parametrize("sign", ["\x1b", "\n", "\r", "\x07", "\x9b", "\u202e", "\u2028", "\u200b", "\udcfc", "\ufeff"])
def test_what_a_terminal_obeys_is_escaped_in_names_and_in_lines(capsys, sign):
    show([f"{f'a{sign}b'!r}", f"a{sign}b"])
    printed = capsys.readouterr().out
    assert sign not in printed.replace("\n", "") or sign == "\n"
    assert printed.count("\n") == 2
    assert printed.splitlines()[1].startswith("memaudit: a\\")


def test_columns_with_one_remark_stand_in_one_line():
    assert alike({"Größe": "x", "b": "y", "c\x1b": "x"}) == [r"'Größe', 'c\x1b': x", "'b': y"]


def test_no_line_prints_nothing(capsys):
    show([])
    assert not capsys.readouterr().out


def test_columns_are_listed_in_one_width_and_the_rest_is_counted():
    assert listed({"a": "numeric", "Größe": "date"}) == ["'a'      numeric", "'Größe'  date"]
    long = listed({"x" * 99: "text"} | {str(place): "text" for place in range(SHOWN + 2)})
    assert long[-1] == "... and 3 more"
    assert len(long) == SHOWN + 1
    assert {len(line) for line in long[:-1]} == {WIDEST + len("  text")}


class Unbuffered(io.StringIO):
    """A stream whose every write is one of the operating system's."""

    def __init__(self):
        super().__init__()
        self.writes = []

    def write(self, text):
        self.writes.append(text)
        return len(text)


def test_a_line_and_its_end_are_written_at_once(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Unbuffered())
    write_line("memaudit: interrupted")
    other = Unbuffered()
    write_line("memaudit: a job's", other)
    assert sys.stderr.writes == ["memaudit: interrupted\n"]
    assert other.writes == ["memaudit: a job's\n"]
