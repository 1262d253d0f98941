"""What the tests of other engines than Slurm share: the Python that has their plugins."""

import pytest
from conftest import PROJECT

ENGINES = PROJECT / ".venv-engines/bin/python"


def needs(plugin: str) -> pytest.MarkDecorator:
    """Skips tests where `.venv-engines` lacks the plugin of an executor."""
    found = list(PROJECT.glob(f".venv-engines/lib/*/site-packages/snakemake_executor_plugin_{plugin}"))
    return pytest.mark.skipif(not found, reason=f"no plugin {plugin}: `make .venv-engines` installs it")
