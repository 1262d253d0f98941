"""Inputs of a script's job. Standard library only."""


def several(paths: str | list[str]) -> list[str]:
    """Paths of one name, of which there may be one alone."""
    return [paths] if isinstance(paths, str) else list(paths)
