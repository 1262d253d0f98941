"""Look-ups of rules/iclmem.smk."""

from memaudit.workflow.study import Study


class Iclmem(Study):
    """Not yet here: rules/iclmem_common.smk and rules/iclmem_views.smk."""

    name = "iclmem"
    converted = False
