"""The one error that a user meets."""


class AuditError(Exception):
    """What is wrong, where, and how to mend it, in one line. Everything that a user can cause raises this."""
