"""Criteria of documents on data protection, with the numbers of an audit that are evidence for each."""

from memaudit.auditing.findings import audit_strength, inference_findings, singling_out, white_box_findings
from memaudit.auditing.findings import protection_sources as sources
from memaudit.auditing.summaries.mitigation_parts import METHODS
from memaudit.auditing.summaries.protection_parts import Criterion, Finding
from memaudit.auditing.summaries.summary import Summary
from memaudit.auditing.summaries.summary_parts import Value

COUNT = "a count of 95 % credible intervals, without an interval of its own"
SELECTED = "the interval holds for the listed records, although they were selected"
MEAN_ONLY = (
    "These are means over records: a leak of few records can hide in them. What is not distinguishable from chance is "
    "not shown to be absent; smaller leaks than the stated ones are missed."
)

# What the file of a model gives away, whatever its answers do.
OF_CONTEXT = (
    "A fitted in-context model keeps the rows of its context in its file, memory and caches. Whoever has these has the "
    "table, whatever this audit finds; access to them is to be assessed apart."
)
OF_FITTED = (
    "The file of a fitted model may hold rows that it was fitted on, as those of nearest neighbours, support vector "
    "machines and Gaussian processes do, whatever this audit finds; access to it is to be assessed apart."
)


def criteria(summary: Summary, grouped: bool) -> list[Criterion]:
    """All criteria, in the order of the page; grouped: whether a column names the persons."""
    found = [_singling_out(summary), _linkability(summary, grouped), _inference(summary)]
    found += [_from_queries(summary), _direct_extraction(summary)]
    return [*found, _risk(summary), _testing(summary), _re_evaluation(summary), _differential_privacy(summary)]


def _singling_out(summary: Summary) -> Criterion:
    return Criterion(
        **sources.SINGLING_OUT,
        findings=[
            _identified(summary),
            _accused(summary),
            *singling_out.isolated(summary),
            _showing(summary),
            *white_box_findings.identified(summary),
        ],
        evidence="How often an adversary who has a list of candidates isolates one as being in the context, and is "
        "right: accused at a threshold that few others pass.",
        no_evidence="Isolating records whose content the adversary does not know was not tested. " + MEAN_ONLY,
    )


def _linkability(summary: Summary, grouped: bool) -> Criterion:
    findings = [_auc(summary)]
    if rows := summary.rows():
        findings.append(Finding(measure=f"The same by single rows of a {summary.nouns().owner} (AUC)", value=rows.auc))
    linked = inference_findings.findings(summary, of_columns=False)
    findings += linked
    missing = (
        "Whether two rows of a person can be linked to each other by the answers was not tested."
        if grouped
        else "Rows of one person were not linked: no column names the persons (setting group)."
    )
    return Criterion(
        **sources.LINKABILITY,
        findings=findings,
        evidence="How well a complete record of another database is linked to its presence in this context: the chance "
        "that a record in the context ranks above one that is not."
        + (f" {inference_findings.LINKED}" if linked else ""),
        no_evidence=f"{missing} " + ("" if linked else "Linking by a part of a record's columns was not tested."),
    )


def _inference(summary: Summary) -> Criterion:
    findings = inference_findings.findings(summary, of_columns=True)
    shown = inference_findings.INFERRED if findings else "No number of this audit is direct evidence."
    untested = (
        "Values of columns that are not listed were not tested."
        if findings
        else "Whether the model gives away the value of a column of a record was not tested (setting infer)."
    )
    return Criterion(
        **sources.INFERENCE,
        findings=findings,
        evidence=f"{shown} {sources.TRAIT}",
        no_evidence=untested,
    )


def _from_queries(summary: Summary) -> Criterion:
    findings = [_auc(summary), _identified(summary), _showing(summary), *white_box_findings.findings(summary)]
    if summary.deployed.auc is not None and summary.deployed.to != summary.context:
        measure = f"AUC extrapolated to the context of {summary.deployed.to} rows that will be deployed"
        findings.append(Finding(measure=measure, value=summary.deployed.auc, power="by one score"))
    return Criterion(
        **sources.FROM_QUERIES,
        findings=findings,
        evidence="What the attacks listed as run below obtain by queries: whether a person's data are in the context.",
        no_evidence="The likelihood has to be insignificant for every data subject and all means; this is a test of "
        "some means. A leak that is detected is evidence against it. That none is detected bounds the mean leak of "
        "these attacks by the smallest one that would have been detected, and nothing else.",
    )


def _direct_extraction(summary: Summary) -> Criterion:
    probed = [one for one in summary.tuned if not one.placebo]
    findings = [
        Finding(measure=f"AUC of a model fine-tuned for {one.epoch} epochs, without its context", value=one.auc)
        for one in probed
    ]
    shown = "Whether weights that were fine-tuned on the table memorize its records." if probed else "None here."
    return Criterion(
        **sources.DIRECT_EXTRACTION,
        findings=findings,
        evidence=shown,
        no_evidence=OF_FITTED if summary.fitted else OF_CONTEXT,
    )


def _risk(summary: Summary) -> Criterion:
    findings = [_auc(summary), _accused(summary), _showing(summary), *white_box_findings.findings(summary)]
    if summary.exposed:
        first = summary.exposed[0]
        findings.append(
            Finding(
                measure=f"Maximum: vulnerability score of row {first.row}, in standard deviations",
                value=first.vulnerability,
                power=SELECTED,
            )
        )
        rate, posterior = max(first.posteriors.items(), key=lambda one: float(one[0]))
        findings.append(
            Finding(
                measure=f"Probability that this adversary gives the membership of row {first.row}, from "
                f"{100 * float(rate):g} % before",
                value=Value(estimate=posterior, null=float(rate)),
                power="calibrated; no interval is estimated",
            )
        )
    return Criterion(
        **sources.RISK,
        findings=findings,
        evidence="Access, intruder and privacy unit as stated above are the threat model. AUC and precision are "
        "average risks; the vulnerability score is the maximum among those that were rated.",
        no_evidence=f"{summary.rated} of {summary.table.rows} rows are rated; the maximum of the others is unknown. "
        "Motives and capacity of an intruder, and controls around the system, are not measured.",
    )


def _testing(summary: Summary) -> Criterion:
    found = summary.strength
    share = Value(estimate=found.innocents_found / found.innocents)
    return Criterion(
        **sources.TESTING,
        findings=[
            Finding(measure="AUC on a planted model that looks its records up", value=found.lookup),
            Finding(
                measure=f"Share of {found.innocents} planted models without a leak that were detected", value=share
            ),
            Finding(measure="AUC on the negative control, records in no context", value=summary.placebo().auc),
            *(
                Finding(measure=f"AUC on a planted lookup: {audit_strength.label(one)}", value=one.lookup)
                for one in summary.controls
            ),
        ],
        evidence="Whether the test itself works: it has to detect planted lookups, and neither models without a leak "
        "nor the negative control.",
        no_evidence="A test that works finds what it looks for; attacks that were not run are listed below.",
    )


def _re_evaluation(summary: Summary) -> Criterion:
    findings = [
        Finding(measure=f"Change of AUC with “{one.called}”: {one.verdict}", value=one.auc_difference)
        for one in summary.mitigations
        if one.advised and one.auc_difference
    ]
    tested = sum(one.p_value is not None for one in summary.mitigations)
    shown = f"{tested} mitigations were tested; those that lower the leak at little cost are listed." if tested else ""
    return Criterion(
        **sources.RE_EVALUATION,
        findings=findings,
        evidence=shown or "No mitigation was tested in this stage.",
        no_evidence="After a mitigation, after a change of table, model or access, and when new attacks are published, "
        "the numbers no longer hold: audit again, at the date of the next review at the latest.",
    )


def _differential_privacy(summary: Summary) -> Criterion:
    released = [one for one in summary.private if one.epsilon is not None]
    findings = [
        Finding(measure=f"AUC of the attack on {METHODS[one.method]}, epsilon {one.epsilon:g}", value=one.auc)
        for one in released
        if one.auc
    ]
    return Criterion(
        **sources.DIFFERENTIAL_PRIVACY,
        findings=findings,
        evidence="Whether an attack contradicts the stated epsilon; the privacy unit is the one above."
        if released
        else "None: no context with differential privacy was audited, so there is no epsilon to evaluate.",
        no_evidence="No attack confirms an epsilon: the guarantee rests on the mechanism, its implementation and what "
        "epsilon covers. The contexts that were audited without one have no such guarantee.",
    )


def _auc(summary: Summary) -> Finding:
    measure = f"AUC of the strongest score, by {summary.nouns().unit}"
    return Finding(measure=measure, value=summary.headline.auc, power=audit_strength.smallest_auc(summary))


def _identified(summary: Summary) -> Finding:
    return Finding(
        measure=f"Share of members accused at a false positive rate of {100 * summary.fpr:g} %",
        value=summary.headline.tpr[f"{summary.fpr:g}"],
        power=audit_strength.smallest_tpr(summary),
    )


def _accused(summary: Summary) -> Finding:
    """The precision at the largest base rate."""
    rate, worth = max(summary.headline.precision.items(), key=lambda one: float(one[0]))
    return Finding(
        measure=f"Share of these accusations that are right, if {100 * float(rate):g} of 100 candidates are members",
        value=worth.model_copy(update={"detected": summary.strict_leak()}),
        power="as for the share of members accused",
    )


def _showing(summary: Summary) -> Finding:
    return Finding(
        measure=f"Share of {summary.rated} rated {summary.nouns().rows} whose presence shows",
        value=Value(estimate=summary.showing / summary.rated),
        power=COUNT,
    )
