"""Names that a config uses: are they known, may they be used; and what was probably meant."""

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memaudit.config.shared_keys import SharedKeys as Config

CATALOGUES = {
    "datasets": "config/datasets.yaml",
    "models": "config/models.yaml",
    "language_models": "config/language_models.yaml",
}


def closest(name: Any, known: list[str]) -> str | None:
    """The known name that was probably meant; None if none is alike."""
    return next(iter(difflib.get_close_matches(str(name), known, n=1)), None)


def hint(name: Any, known: list[str]) -> str:
    """The known name that is closest to this one, or all of them."""
    close = closest(name, known)
    return f"; did you mean `{close}`?" if close else f"; known: {', '.join(sorted(known))}"


def unknown(where: str, names: list[str], catalogue: str, config: "Config") -> Iterator[str]:
    """Faults of names that a catalogue does not have."""
    known = list(getattr(config, catalogue))
    for name in names:
        if name not in known:
            meant = f"{hint(name, known)} (the catalogue is {CATALOGUES[catalogue]})"
            yield f"{where}: unknown {catalogue[:-1].replace('_', ' ')} {name!r}{meant}"


def licence_faults(used: dict[str, str], config: "Config") -> Iterator[str]:
    """Gated models that are used, by key path, without a word that their terms were accepted."""
    for where, name in used.items():
        model = config.models.get(name)
        if model and model.terms and name not in config.accept_licences:
            remedy = f"read {model.terms}, and add {name} to accept_licences if you accept them"
            yield f"{where}: the weights of {name} ({model.licence}) have terms of their own; {remedy}"
