"""The one error that a user meets."""


def printable(text: str) -> str:
    """Text without what a terminal would obey: a name from data may hold escapes and line ends."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


class AuditError(Exception):
    """What is wrong, where, and how to fix it, in one line. Everything that a user can cause raises this."""
