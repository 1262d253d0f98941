"""Documents on data protection, and the criteria in them: source, place, name and words, as keys of `Criterion`."""

WP216 = "Article 29 Working Party, Opinion 05/2014 (WP216)"
EDPB = "EDPB Opinion 28/2024 on AI models"
ISO = "ISO/IEC 27559:2022"
NIST = "NIST SP 800-226 (2025)"

SINGLING_OUT = {
    "source": WP216,
    "place": "section 3",
    "name": "Singling out",
    "quote": "the possibility to isolate some or all records which identify an individual in the dataset",
}

LINKABILITY = {
    "source": WP216,
    "place": "section 3",
    "name": "Linkability",
    "quote": "the ability to link, at least, two records concerning the same data subject or a group of data subjects "
    "(either in the same database or in two different databases)",
}

INFERENCE = {
    "source": WP216,
    "place": "section 3",
    "name": "Inference",
    "quote": "the possibility to deduce, with significant probability, the value of an attribute from the values of a "
    "set of other attributes",
}

FROM_QUERIES = {
    "source": EDPB,
    "place": "executive summary, and section on anonymity",
    "name": "Personal data obtained from queries",
    "quote": "should be insignificant, taking into account “all the means reasonably likely to be used” by the "
    "controller or another person",
}

DIRECT_EXTRACTION = {
    "source": EDPB,
    "place": "executive summary, and section on anonymity",
    "name": "Direct extraction of personal data from the model",
    "quote": "direct (including probabilistic) extraction of personal data regarding individuals whose personal data "
    "were used to develop the model",
}

RISK = {
    "source": ISO,
    "place": "6.2 and 7.3.2",
    "name": "Threat modelling; maximum or average risk",
}

TESTING = {
    "source": ISO,
    "place": "8.2.3",
    "name": "Adversarial testing",
}

RE_EVALUATION = {
    "source": ISO,
    "place": "8.3 and 8.3.4",
    "name": "Mitigation and re-evaluation",
}

DIFFERENTIAL_PRIVACY = {
    "source": NIST,
    "place": "privacy parameters and unit of privacy",
    "name": "Differential privacy",
}

TRAIT = (
    "Membership itself can be such a value: if all people in the data share a trait, whoever is known to be in them is "
    "known to have it; see singling out."
)
