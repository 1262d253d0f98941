"""An audit of files of predictions in the terms of data protection; see `protection`."""

from collections.abc import Mapping
from typing import Any

from memaudit.attacks.prediction_scores import NAMES
from memaudit.attacks.registry import REGISTRY
from memaudit.auditing.findings import protection_sources as sources
from memaudit.auditing.findings.attack_inventory import ELSEWHERE
from memaudit.auditing.findings.protection import Record
from memaudit.auditing.predictions import prediction_sentences
from memaudit.auditing.predictions.prediction_sentences import CONTROLS
from memaudit.auditing.predictions.prediction_summary import PredictionSummary
from memaudit.auditing.summaries.protection_parts import AttackStatus, Criterion, Finding, Protection
from memaudit.auditing.summaries.summary_parts import Value
from memaudit.common.command_name import program

SHIFT = (
    "What tells the two files apart may be another difference between them (shift): only the excess over the controls "
    "is evidence of memory, and no proof."
)
NO_CONTEXTS = "needs shadow contexts: here the model is neither refitted nor queried"


def in_terms_of_data_protection(summary: PredictionSummary, facts: Mapping[str, Any], record: Record) -> Protection:
    """The data-protection section; facts: of the intake, with the names of the files."""
    return Protection(
        system=_system(summary, facts),
        access="the predicted probabilities of every class for each record, once; no further query, and no access to "
        "the model's file, memory or logs",
        unit="the person that a column of the files names, with all of their rows"
        if summary.files.by_person
        else "one row of the files; if a person has several rows, audit again with --group",
        intruder="knows the attacked record with its class, and has the model's predictions about other records of "
        "which they know that they are not in its data, to set a threshold",
        invalid=prediction_sentences.invalid(summary),
        criteria=criteria(summary),
        attacks=inventory(summary),
        versions=dict(record.versions),
        date=record.date,
        reviewer=record.owner or None,
        review_by=record.review_by or None,
    )


def _system(summary: PredictionSummary, facts: Mapping[str, Any]) -> str:
    files = " and ".join(
        f"{rows} {what} of {name} (sha256 {digest})"
        for rows, what, name, digest in zip(
            summary.files.rows, ("members", "non-members"), facts["names"], summary.files.sha256, strict=True
        )
    )
    return f"a model that is known by its predictions alone, about {files}, of {summary.files.classes} classes"


def criteria(summary: PredictionSummary) -> list[Criterion]:
    """All criteria, in the order of the page."""
    return [*_of_anonymity(summary), *_of_the_model(summary), *_of_the_test(summary)]


def _of_anonymity(summary: PredictionSummary) -> list[Criterion]:
    """Singling out, linkability and inference."""
    auc, accused = _auc(summary), _accused(summary)
    return [
        Criterion(
            **sources.SINGLING_OUT,
            findings=accused,
            evidence="How often an adversary who has a list of candidates picks one that is in the data."
            if accused
            else "None: there are too few non-members for a threshold.",
            no_evidence=f"{SHIFT} Isolating records whose content the adversary does not know was not tested.",
        ),
        Criterion(
            **sources.LINKABILITY,
            findings=auc,
            evidence="How well a complete record of another database is linked to its presence in the model's data.",
            no_evidence=f"{SHIFT} Linking records, or parts of one, to each other was not tested.",
        ),
        Criterion(
            **sources.INFERENCE,
            findings=[],
            evidence=f"No number of this audit is direct evidence. {sources.TRAIT}",
            no_evidence="Whether the model gives away the value of a column was not tested; it needs further queries.",
        ),
    ]


def _of_the_model(summary: PredictionSummary) -> list[Criterion]:
    """Whether the model itself is personal data, and the risk."""
    auc, accused, excess = _auc(summary), _accused(summary), _excess(summary)
    return [
        Criterion(
            **sources.FROM_QUERIES,
            findings=auc + excess + accused,
            evidence="What one query for each record tells of whether it is in the model's data.",
            no_evidence=f"{SHIFT} The likelihood has to be insignificant for every data subject and all means; an "
            "adversary who can query the model again, refit it or see inside it is stronger than this one.",
        ),
        Criterion(
            **sources.DIRECT_EXTRACTION,
            findings=[],
            evidence="None here.",
            no_evidence="The model was not inspected. A fitted in-context model keeps the rows of its context in its "
            f"file ({program()} scan finds them); trained weights may hold records, too.",
        ),
        Criterion(
            **sources.RISK,
            findings=auc + accused,
            evidence="Access, intruder and privacy unit as stated above are the threat model. The numbers are average "
            "risks.",
            no_evidence="The maximum risk is not known: with one model no record is rated by itself.",
        ),
    ]


def _of_the_test(summary: PredictionSummary) -> list[Criterion]:
    """Whether the test works, and what was not measured at all."""
    planted = summary.planted
    lookup = Value(**planted.lookup.model_dump(exclude={"p_value"}))
    share = Value(estimate=planted.splits_detected / planted.splits)
    return [
        Criterion(
            **sources.TESTING,
            findings=[
                Finding(measure="AUC on a planted model that looks its records up", value=lookup),
                Finding(measure=f"Share of {planted.splits} random splits of the non-members detected", value=share),
            ],
            evidence="Whether the test itself works: it has to detect the first, and not most of the second.",
            no_evidence="A test that works finds what it looks for; attacks that were not run are listed below.",
        ),
        Criterion(
            **sources.RE_EVALUATION,
            findings=[],
            evidence="No mitigation was tested: that needs answers of a changed model.",
            no_evidence="After a change of model, data or access, and when new attacks are published, the numbers no "
            "longer hold: audit again, at the date of the next review at the latest.",
        ),
        Criterion(
            **sources.DIFFERENTIAL_PRIVACY,
            findings=[],
            evidence="None: whether the model was trained with differential privacy is not known here.",
            no_evidence="No attack confirms an epsilon: the guarantee rests on the mechanism, its implementation and "
            "what epsilon covers.",
        ),
    ]


def _auc(summary: PredictionSummary) -> list[Finding]:
    measure = f"AUC of the strongest score, by {summary.nouns().accused[:-1]}"
    return [Finding(measure=measure, value=summary.headline.auc, power=prediction_sentences.smallest_auc(summary))]


def _excess(summary: PredictionSummary) -> list[Finding]:
    return [
        Finding(
            measure=f"The same less the AUC of a control ({CONTROLS[one.name]})",
            value=Value(**one.excess.model_dump(), null=0.0),
            power="judged by its interval alone",
        )
        for one in summary.controls
    ]


def _accused(summary: PredictionSummary) -> list[Finding]:
    """Share of members accused, and the precision at the largest base rate."""
    if summary.accusations is None:
        return []
    main, fpr = summary.headline, f"{summary.fpr:g}"
    rate, worth = max(main.precision.items(), key=lambda one: float(one[0]))
    return [
        Finding(
            measure=f"Share of members accused at a false positive rate of about {100 * summary.fpr:g} %",
            value=main.tpr[fpr],
            power=prediction_sentences.smallest_tpr(summary),
        ),
        Finding(
            measure=f"Share of these that are right, if {100 * float(rate):g} of 100 candidates are members",
            value=worth,
            power="as for the share of members accused",
        ),
    ]


def inventory(summary: PredictionSummary) -> list[AttackStatus]:
    """Every attack with its status, those that were run first."""
    run = [AttackStatus(attack=f"{NAMES[one.name]} (one answer)", status="run", reason="") for one in summary.scores]
    missing = [NAMES[name] for name in NAMES.keys() - {one.name for one in summary.scores}]
    needed = "--reference was not given: it needs predictions of other models"
    other = [AttackStatus(attack=f"{name} (one answer)", status="left out", reason=needed) for name in sorted(missing)]
    other += [
        AttackStatus(
            attack=f"{one.label.replace('{k:g} ', '')} ({one.adversary})", status="not possible", reason=NO_CONTEXTS
        )
        for key, one in REGISTRY.items()
        if key not in NAMES
    ]
    return run + other + [AttackStatus(attack=name, status="left out", reason=why) for name, why in ELSEWHERE.items()]
