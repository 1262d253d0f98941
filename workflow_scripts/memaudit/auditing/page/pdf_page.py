"""The page of an audit as PDF, for files and signatures, by WeasyPrint (BSD licence)."""

import logging
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.io import replacing

# Beside the page's own print style: sheets, and tables that fit on them.
SHEETS = """
@page {
  size: A4; margin: 15mm 14mm 18mm;
  @bottom-right { content: counter(page) " / " counter(pages); font-size: 8pt; }
}
.top, .frame, footer { padding-inline: 0 !important; max-width: none !important; }
table { width: 100% !important; }
td, th { white-space: normal !important; overflow-wrap: break-word; }
td.value, td .value { white-space: nowrap !important; }
td, th { padding-right: 2mm !important; }
td .marks { min-width: 0 !important; width: 5rem !important; }
h1 { font-size: 20pt !important; }
h2 { font-size: 15pt !important; }
h3 { font-size: 12pt !important; }
"""


def require() -> None:
    """Raise AuditError, one line with the remedy, where WeasyPrint or the libraries that it loads are missing."""
    try:
        import weasyprint  # noqa: F401
    except ImportError:
        raise AuditError(
            "--pdf: needs WeasyPrint; install it with `.venv/bin/pip install weasyprint`, or print report.html from a "
            "browser"
        ) from None
    except OSError:
        raise AuditError(
            "--pdf: WeasyPrint does not find Pango; install it (`apt install libpango-1.0-0 libpangoft2-1.0-0`, "
            "`brew install pango`), or print report.html from a browser"
        ) from None


def write(page: Path, target: Path) -> None:
    """Write an HTML page as PDF that only its owner can read; nothing but the page's own data is loaded."""
    import weasyprint
    from weasyprint.urls import FatalURLFetchingError, URLFetcher

    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it warns of style for screens
    inside = URLFetcher(allowed_protocols=["data"], fail_on_errors=True)
    document = weasyprint.HTML(page, url_fetcher=inside)
    try:
        made = document.write_pdf(stylesheets=[weasyprint.CSS(string=SHEETS)])
    except FatalURLFetchingError as error:
        raise AuditError(f"{page}: {error}; a page of an audit loads nothing from elsewhere") from None
    with replacing(target) as temporary:
        temporary.touch(0o600)
        temporary.write_bytes(made)
