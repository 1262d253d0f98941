"""The column of a user's table that was probably meant by a name."""

import difflib
import unicodedata
from collections.abc import Sequence

from memaudit.config.name_checks import hint

MOST = 50  # columns that are compared, or listed where none is close


def column_hint(name: str, columns: Sequence[str]) -> str:
    """The closest column, whatever its case and accents: people write Strasse for Straße. If none is close, all."""
    known = {_folded(one): one for one in reversed(columns[:MOST])}
    close = difflib.get_close_matches(_folded(name), known, n=1)
    return f"; did you mean `{known[close[0]]}`?" if close else hint(name, list(columns[:MOST]))


def _folded(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
