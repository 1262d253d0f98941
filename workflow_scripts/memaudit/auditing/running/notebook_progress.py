"""Progress of an audit in a notebook: one output of a cell that is written anew, without widgets."""

import html
import sys
from typing import Any


def notebook_display() -> Any:
    """IPython's `display` where the program runs in the kernel of a notebook, else None."""
    ipython = sys.modules.get("IPython")  # imported by every kernel
    shell = ipython.get_ipython() if ipython else None
    return ipython.display.display if hasattr(shell, "kernel") else None


class NotebookBar:
    """A bar with a line of text; display: of `notebook_display`."""

    def __init__(self, display: Any) -> None:
        self._output = display(_content(0.0, "starting"), raw=True, display_id=True)

    def at(self, share: float, text: str) -> None:
        """Show the share that is done, and a text."""
        self._output.update(_content(share, text), raw=True)

    def close(self) -> None:
        """Leave nothing in the notebook."""
        self._output.update({"text/plain": "", "text/html": ""}, raw=True)


def _content(share: float, text: str) -> dict[str, str]:
    bar = f'<progress max="1" value="{share:.2f}"></progress> {html.escape(text)}'
    return {"text/plain": f"{100 * share:.0f} % {text}", "text/html": bar}
