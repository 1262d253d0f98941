"""Figures as inline SVG, without ids or styles that could affect the rest of the page."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

from markupsafe import Markup

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
LARGEST = 1_500_000
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def embed(stem: str | Path, name: str, label: str, caption: str) -> Markup:
    """The figure stem.svg as markup; stem.png in its place if the SVG is larger than LARGEST bytes and than the PNG.

    name: prefix of its ids; label: description for screen readers; caption: id of the caption.
    """
    svg, png = (Path(stem).with_suffix(suffix) for suffix in (".svg", ".png"))
    if LARGEST < svg.stat().st_size > png.stat().st_size:
        image = base64.b64encode(png.read_bytes()).decode("ascii")
        return Markup('<img src="data:image/png;base64,{}" alt="{}" aria-describedby="{}">').format(
            image, label, caption
        )
    return inline(svg.read_text(encoding="utf-8"), name, label, caption)


def inline(text: str, name: str, label: str, caption: str) -> Markup:
    """An SVG document as an element of a page: ids prefixed; comments, metadata, scripts and style sheet removed."""
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}script"}:
                parent.remove(child)
    for element in root.iter():
        for key, value in element.attrib.items():
            element.set(key, _prefixed(key, value, name))
    # The rules of matplotlib's style sheet, which would otherwise apply to the whole page.
    root.attrib = {
        "viewBox": root.get("viewBox"),
        "role": "img",
        "aria-label": label,
        "aria-describedby": caption,
        "style": f"stroke-linejoin: round; stroke-linecap: butt; --drawn: {root.get('viewBox').split()[2]}pt",
    }
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _prefixed(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in {"href", f"{{{XLINK}}}href"} and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return REFERENCE.sub(lambda found: f"url(#{name}-{found[1]})", value)
