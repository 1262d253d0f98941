"""Texts that corpora of `ltmia` cannot give, and targets that train on other texts than their members."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from memaudit.config.shared_keys import SharedKeys

if TYPE_CHECKING:
    from memaudit.config.ltmia_section import Group, Ltmia


def text_faults(groups: Mapping[str, "Group"], study: "Ltmia", shared: SharedKeys) -> Iterator[str]:
    """Faults of the texts that the groups' targets train on and are attacked with; groups: by key path."""
    yield from _corpus_faults({name for group in groups.values() for name in group.corpora}, study, shared)
    parts, fewest = study.texts.parts, study.texts.documents
    if (attacked := parts.member + parts.nonmember) < fewest:
        yield (
            f"ltmia/texts/documents: {attacked} members and non-members cannot come from {fewest} documents; ask for "
            "fewer documents, or for more texts in ltmia/texts/parts"
        )
    for where, group in groups.items():
        if group.tuning in study.tunings and study.tunings[group.tuning].trains_on != "members":
            yield from _null_faults(where, group, study)
    for name, tuning in study.tunings.items():
        if tuning.privacy and tuning.trains_on != "members":
            yield f"ltmia/tunings/{name}/trains_on: a guarantee is for members; leave privacy or trains_on out"


def _null_faults(where: str, group: "Group", study: "Ltmia") -> Iterator[str]:
    """Targets that have not seen their members are nulls, and controls alone."""
    if not where.startswith("ltmia/controls/"):
        yield f"{where}/tuning: {group.tuning} does not train on members; only ltmia/controls may take it"
    for name in (name for name in group.corpora if name in study.shifted):
        yield f"{where}/corpora: {name} has non-members of another corpus and is no null; take another corpus"


def _corpus_faults(names: set[str], study: "Ltmia", shared: SharedKeys) -> Iterator[str]:
    """Corpora whose characters cannot hold the texts: a word or token takes two at the least, its blank among them."""
    parts, least = study.texts.parts, study.texts.least
    texts = parts.member + parts.nonmember + parts.selection
    for name in sorted(name for name in names if name in shared.datasets):
        limit = shared.datasets[name].characters
        there = limit and int(limit * (1 - study.texts.pretraining_share))
        if there and there < 2 * least * texts:
            yield (
                f"datasets/{name}/characters: {texts} texts of ltmia/texts/parts take {2 * least * texts} characters "
                f"at the least, and {there} are read for them; read more, or ask for fewer texts"
            )
