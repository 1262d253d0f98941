"""One template layer: HTML is escaped, Markdown is not, and a name that the context lacks is an error."""

import pytest
from jinja2 import UndefinedError

from memaudit.templating.page_templates import TEMPLATES, render

HOSTILE = "<b> & {{ 7 * 7 }}"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.html").write_text(
        '{% extends "base.html" %}{% block results %}{{ name }} {{ sha | short }}{% endblock %}'
    )
    (tmp_path / "own.md").write_text("{{ name }} {{ count }}\n")
    return tmp_path


def test_values_are_escaped_in_html_alone(folder):
    page = render("own.html", {"name": HOSTILE, "sha": "0123456789abcdef"}, folder)
    assert "&lt;b&gt; &amp; {{ 7 * 7 }} 0123456789ab<" in page
    assert render("own.md", {"name": HOSTILE, "count": 12345}, folder) == f"{HOSTILE} 12345\n"


def test_html_pages_share_head_and_style_sheet(folder):
    page = render("own.html", {"name": "", "sha": ""}, folder)
    assert page.startswith("<!doctype html>")
    assert (TEMPLATES / "style.css").read_text(encoding="utf-8").splitlines()[0] in page
    assert "default-src 'none'" in page


def test_a_name_that_the_context_lacks_is_an_error(folder):
    with pytest.raises(UndefinedError, match="'count' is undefined"):
        render("own.md", {"name": ""}, folder)


def test_a_page_may_have_filters_of_its_own(folder):
    (folder / "loud.md").write_text("{{ name | loud }}")
    assert render("loud.md", {"name": "a"}, folder, filters={"loud": str.upper}) == "A"


def test_control_characters_are_shown_in_html(folder):
    page = render("own.html", {"name": "a\x1b[31m\x07\u202eb\tc\nd", "sha": ""}, folder)
    assert "a\\x1b[31m\\x07\\u202eb\tc\nd" in page
    assert "\x1b" not in page
