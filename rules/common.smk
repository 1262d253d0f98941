"""Helpers and registries that every rules file may use; no rule stands here."""

# Views of tidy results, filled by each study. A table: its files and its layout for readers (keys of lines and columns,
# values of other keys). A figure: its files and the values of keys that it shows. Claims: all files that they rest on.
TABLES = {}
FIGURES = {}
CLAIMS = {}


def shards(models, size):
    """Numbers of the shards that hold that many models."""
    return range(-(-models // size))


def views(study):
    """All tables and figures of a study."""
    tables = [name for name in TABLES if name.startswith(f"{study}_")]
    figures = [name for name in FIGURES if name.startswith(f"{study}_")]
    return [
        *expand(
            "<results>/tables/{name}.{kind}", name=tables, kind=["csv", "md", "tex"]
        ),
        *expand(
            "<results>/figures/{name}.{kind}", name=figures, kind=["svg", "png", "pdf"]
        ),
    ]
