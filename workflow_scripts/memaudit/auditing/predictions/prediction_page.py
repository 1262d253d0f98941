"""The page of an audit of files of predictions: one HTML file that shows counts and names of columns, and no cell."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from memaudit.attacks.prediction_scores import NAMES
from memaudit.auditing.page import glossary, stacked_tables
from memaudit.auditing.page.audit_page import TEMPLATES, mark, number, signed, unbroken
from memaudit.auditing.page.figures.picture import fixed
from memaudit.auditing.predictions import prediction_sentences, prediction_summary
from memaudit.auditing.predictions.prediction_glossary import TERMS
from memaudit.auditing.predictions.prediction_pictures import pictures
from memaudit.auditing.predictions.prediction_sentences import CONTROLS, advice, of_hundred, sentences
from memaudit.auditing.predictions.prediction_summary import PredictionSummary
from memaudit.templating import page_templates


def render(summary: PredictionSummary, facts: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The page as HTML. facts: of the intake, with the names of columns; settings: for the annex, by name."""
    context = {
        "summary": summary,
        "facts": facts,
        "settings": [(name, str(value)) for name, value in settings.items()],
        "names": NAMES,
        "controls": CONTROLS,
        "sentences": sentences(summary),
        "words": prediction_sentences,
        "advice": advice(summary),
        "nouns": summary.nouns(),
        "who": summary.nouns().accused,
        "invalid": prediction_summary.INVALID,
        "unclear": prediction_summary.UNCLEAR,
        "pictures": pictures(summary),
        "glossary": TERMS,
    }
    filters = {one.__name__: one for one in (number, signed, fixed, mark, unbroken, of_hundred)}
    filters["term"] = partial(glossary.term, terms=TERMS)
    return stacked_tables.labelled(page_templates.render("predictions.html", context, TEMPLATES, filters=filters))
