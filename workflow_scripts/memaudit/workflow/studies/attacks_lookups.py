"""Look-ups of rules/attacks.smk."""

from memaudit.workflow.study import Study


class Attacks(Study):
    """Not yet here: rules/attacks_common.smk and rules/attacks_views.smk."""

    name = "attacks"
    converted = False
