"""An SVG figure becomes part of a page without clashing ids, style sheets or markup from data."""

import re
from xml.etree import ElementTree

from report_examples import EVIL, SVG

from memaudit.report import inline_figures


def test_a_figure_of_a_page_has_its_own_ids_a_name_and_no_style_sheet():
    markup = inline_figures.inline(SVG, "demo_roc", f"curves {EVIL}", "demo_roc-caption")
    assert re.findall(r' id="([^"]+)"', markup) == ["demo_roc-c", "demo_roc-m", "demo_roc-axes_1"]
    assert markup.count("url(#demo_roc-c)") == 2
    assert 'href="#demo_roc-m"' in markup
    assert not re.search(r"<style|<metadata|<!--|<script", markup)
    root = ElementTree.fromstring(markup)
    assert root.get("role") == "img"
    assert root.get("aria-label") == f"curves {EVIL}"


def test_a_very_large_figure_is_embedded_as_png(tmp_path, monkeypatch):
    (tmp_path / "big.svg").write_text(SVG)
    (tmp_path / "big.png").write_bytes(b"png")
    assert inline_figures.embed(tmp_path / "big", "big", "label", "caption").startswith("<svg")
    monkeypatch.setattr(inline_figures, "LARGEST", 10)
    assert inline_figures.embed(tmp_path / "big", "big", EVIL, "caption").startswith(
        '<img src="data:image/png;base64,cG5n"'
    )
    assert EVIL not in inline_figures.embed(tmp_path / "big", "big", EVIL, "caption")
