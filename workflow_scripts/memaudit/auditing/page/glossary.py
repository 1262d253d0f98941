"""The terms of an audit's page: a note where a term stands, and the glossary below."""

from collections.abc import Mapping

from markupsafe import Markup

# By key: the term, and what it means.
TERMS: Mapping[str, tuple[str, str]] = {
    "context": (
        "Context",
        "The labelled records that the model reads together with each question. It holds them as it is used, "
        "without being trained on them.",
    ),
    "member": (
        "Member, non-member",
        "A member is a record that is in the context, a non-member one that is not.",
    ),
    "shadow": (
        "Shadow context",
        "A context that is drawn for the attack, with known members. From many of them an adversary learns how "
        "answers about a record look with it and without it.",
    ),
    "accusation": (
        "Accusation",
        "A positive prediction of the attack: this record is said to be in the context.",
    ),
    "threshold": (
        "Threshold",
        "The score above which the attack accuses. A stricter one accuses fewer, wrongly and rightly.",
    ),
    "fpr": (
        "False positive rate (FPR)",
        "Of those who are not in the data, the share that is accused all the same.",
    ),
    "tpr": (
        "True positive rate (TPR)",
        "Of those who are in the data, the share that is accused, and so identified.",
    ),
    "precision": (
        "Precision",
        "Of those who are accused, the share that is really in the data (positive predictive value, PPV). It "
        "depends on the base rate.",
    ),
    "base-rate": (
        "Base rate",
        "Of all candidates that the adversary considers, the share that is in the data. Where few are, most "
        "accusations are wrong, however good the attack.",
    ),
    "auc": (
        "AUC",
        "How often a record that is in the context gets a higher score than one that is not: 0.5 is guessing, 1 "
        "is certainty. The area under the ROC curve.",
    ),
    "roc": (
        "ROC curve",
        "The true positive rate at every false positive rate: all thresholds at once. Logarithmic axes show the "
        "left end, where few are wrongly accused.",
    ),
    "interval": (
        "95 % interval",
        "A range made so that it holds the true value in 95 of 100 such audits. Written in brackets, drawn as a bar.",
    ),
    "chance": (
        "Chance",
        "What the same attack finds where there is nothing to find: memberships are drawn again at random.",
    ),
    "detected": (
        "Detected",
        "Two conditions hold: redrawn memberships give as large a value in at most 5 % of cases (p ≤ 0.05), and "
        "the interval lies above chance. One in 20 audits without a leak would meet the first.",
    ),
    "control": (
        "Negative control",
        "The same attack where there is nothing to find, such as records that are in no context. It must detect "
        "nothing.",
    ),
    "lira": (
        "LiRA",
        "The likelihood-ratio attack: compares an answer with those of shadow contexts that have the record and "
        "of those that have not.",
    ),
    "rmia": (
        "RMIA",
        "The robust membership inference attack: compares an answer about the record with answers about other "
        "records of the population.",
    ),
    "posterior-answer": (
        "Posterior of an answer",
        "The probability that the adversary gives each possible answer after querying the model; its mean over records "
        "is larger than by contexts without them where the model gives something away.",
    ),
    "p-value": (
        "Randomisation test, p-value",
        "The test draws the memberships again many times; p is the share of redraws that give as large a value.",
    ),
    "noisy": (
        "Noisy copies",
        "Queries about slightly changed versions of a record: labels that stay the same for more of them show that the "
        "record is known better.",
    ),
    "poison": (
        "Poisons",
        "Rows that the adversary adds to the context, such as copies of a record with another label, to make answers "
        "about it more telling.",
    ),
    "unit": (
        "Privacy unit",
        "What is in the context or not as a whole, and is protected: a record, or a person with all of their records.",
    ),
    "holm": (
        "Holm's correction",
        "Makes tests stricter where several are made, so that all claims together are right in 95 of 100 audits.",
    ),
    "vulnerability": (
        "Vulnerability score",
        "How far the model's answers about a record with it and without it lie apart, in standard deviations (an "
        "effect size). 0: no difference.",
    ),
    "posterior": (
        "Posterior",
        "The probability, after the attack, that a record is in the data; before it, it is the base rate.",
    ),
    "mitigation": (
        "Mitigation",
        "A change of the context or of the answers that is meant to lower the leak.",
    ),
    "balanced": (
        "Balanced accuracy",
        "The mean over the classes of the share of right answers: guessing gives 50 % of two classes, whatever "
        "their sizes.",
    ),
    "r2": (
        "R²",
        "The share of the target's variance that a prediction explains: 1 is perfect, 0 is predicting the mean.",
    ),
    "epsilon": (
        "Epsilon, differential privacy",
        "A bound on what any attack can learn about one record, kept by adding noise: smaller is stricter.",
    ),
    "attention": (
        "Attention weight, white-box",
        "How much the model reads each row of its context when it answers. An adversary who sees these weights inside "
        "the model is called white-box.",
    ),
    "keys": (
        "Keys, k-anonymous keys",
        "What a row of the context shows to the question that reads it. K-anonymous: the mean over k similar rows.",
    ),
    "singling-out": (
        "Singling out",
        "To isolate one record of a data set as that of a known person (WP216).",
    ),
    "linkability": (
        "Linkability",
        "To find out which records belong to the same person (WP216); here which half of a record belongs to another "
        "half.",
    ),
    "inference": (
        "Inference (of attributes)",
        "To deduce a hidden value of a record from its other values (WP216); here with the model's answers.",
    ),
    "excess": (
        "Excess",
        "Right answers about records in the context less those about the same records outside: what is due to being "
        "in the context. Of a group: its AUC less that of the others.",
    ),
    "gain": (
        "Gain",
        "Right answers about records outside less those without the model: what the model tells about everybody.",
    ),
    "max-t": (
        "Max-T",
        "A test of several questions at once: the largest of all is compared with the largest of each redraw, so that "
        "asking many does not raise the error rate.",
    ),
    "power": (
        "Power",
        "The probability that an audit detects a leak of a stated size. A smaller leak is more likely to be missed.",
    ),
    "q": (
        "q",
        "A p-value that is corrected for the number of groups that were tested.",
    ),
}


# Terms of a model that is fitted, and has no context that it reads.
OF_FITTED: Mapping[str, tuple[str, str]] = {
    "context": (
        "Context",
        "Here the labelled records that the model is fitted on: its training data.",
    ),
    "shadow": (
        "Shadow context",
        "Records that are drawn for the attack, with known members, and that a copy of the model is fitted on. From "
        "many of these an adversary learns how answers about a record look with it and without it.",
    ),
}


def of_model(fitted: bool) -> dict[str, tuple[str, str]]:
    """All terms; fitted: whether the model is fitted on its context, and does not read it."""
    return {**TERMS, **(OF_FITTED if fitted else {})}


def of_target(numbers: bool, fitted: bool = False) -> dict[str, tuple[str, str]]:
    """The terms of a page; numbers: whether the target is a number, whose quality has another measure."""
    left_out = "balanced" if numbers else "r2"
    return {key: entry for key, entry in of_model(fitted).items() if key != left_out}


def term(text: str, key: str, terms: Mapping[str, tuple[str, str]] = TERMS) -> Markup:
    """The text as a link to the glossary, with a note on pointing at it or on reaching it by Tab. KeyError: no term."""
    return Markup(
        '<a class="term" href="#term-{0}" aria-describedby="term-{0}">{1}'
        '<span class="tip" aria-hidden="true">{2}</span></a>'
    ).format(key, text, terms[key][1])
