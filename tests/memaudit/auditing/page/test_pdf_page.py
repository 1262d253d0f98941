"""The PDF holds the page's text on several sheets and loads nothing; without WeasyPrint one line says what to do."""

import builtins

import pypdf
import pytest
from audit_examples import FACTS, a_summary, annex

from memaudit.auditing.page import audit_page, pdf_page
from memaudit.common.errors import AuditError


def test_the_pdf_has_the_headline_and_more_than_one_page(tmp_path):
    page, target = tmp_path / "report.html", tmp_path / "report.pdf"
    page.write_text(audit_page.render(a_summary(), FACTS, annex()), encoding="utf-8")
    pdf_page.write(page, target)
    pdf_page.write(page, target)
    read = pypdf.PdfReader(target)
    assert len(read.pages) > 1
    text = " ".join(" ".join(one.extract_text() for one in read.pages).split())
    assert "The model leaks who is in its context." in text
    assert "60 [50, 70] are really in the data" in text
    assert target.stat().st_mode & 0o077 == 0
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.pdf"}


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="http://127.0.0.1:9/x.png">',
        '<style>@import url("file:///etc/passwd");</style>',
        '<link rel="stylesheet" href="own.css">',
    ],
)
def test_a_page_that_loads_something_is_refused(tmp_path, markup):
    page = tmp_path / "report.html"
    page.write_text(f"<p>a</p>{markup}")
    with pytest.raises(AuditError, match="loads nothing from elsewhere"):
        pdf_page.write(page, tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()


def test_what_the_page_holds_itself_is_drawn(tmp_path):
    page = tmp_path / "report.html"
    page.write_text('<link rel="icon" href="data:,"><svg width="9" height="9"><rect width="9" height="9"/></svg>')
    pdf_page.write(page, tmp_path / "report.pdf")
    assert len(pypdf.PdfReader(tmp_path / "report.pdf").pages) == 1


@pytest.mark.parametrize(("fault", "remedy"), [(ImportError, "pip install weasyprint"), (OSError, "install pango")])
def test_a_missing_library_is_one_line(monkeypatch, fault, remedy):
    known = builtins.__import__

    def imported(name, *arguments, **options):
        if name == "weasyprint":
            raise fault(name)
        return known(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", imported)
    with pytest.raises(AuditError, match=remedy) as raised:
        pdf_page.require()
    assert "\n" not in str(raised.value)


def test_the_libraries_are_here():
    pdf_page.require()
