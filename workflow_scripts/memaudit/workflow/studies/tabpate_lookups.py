"""Look-ups of rules/tabpate.smk."""

from memaudit.workflow.study import Study


class Tabpate(Study):
    """Not yet here: rules/tabpate_common.smk and rules/tabpate_views.smk."""

    name = "tabpate"
    converted = False
