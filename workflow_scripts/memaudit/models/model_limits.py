"""What a model cannot take is said in one line, before it is asked."""

from memaudit.errors import AuditError
from memaudit.models.model_protocol import Limits


def check(limits: Limits, where: str, rows: int, features: int | None = None, classes: int | None = None) -> None:
    """Raise AuditError if contexts of so many rows, features and classes pass a model's limits; None: not known yet."""
    for what, have, most in (
        ("context rows", rows, limits.rows),
        ("features", features, limits.features),
        ("classes", classes, limits.classes),
    ):
        if have is not None and most is not None and have > most:
            raise AuditError(f"{where}: {have} {what}, the model takes at most {most}; choose another model or fewer")
