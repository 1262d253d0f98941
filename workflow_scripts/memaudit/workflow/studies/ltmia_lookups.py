"""Look-ups of rules/ltmia.smk."""

from memaudit.workflow.study import Study


class Ltmia(Study):
    """Not yet here: rules/ltmia_common.smk and rules/ltmia_views.smk."""

    name = "ltmia"
    converted = False
