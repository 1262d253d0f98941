"""Small TabPFN in the official format are opened by the library as the version and task that they are."""

import pytest

from memaudit.models.tabpfn_checkpoint import open_checkpoint
from memaudit.rehearsal import small_tabpfn


@pytest.mark.parametrize("version", small_tabpfn.VERSIONS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_small_checkpoint_is_opened_as_what_it_is(tmp_path, version, task):
    small_tabpfn.write(tmp_path, version, task)
    opened = open_checkpoint(tmp_path, task, version)
    assert opened.version == version
    assert (opened.bars is not None) == (task == "regression")
    assert sum(weight.numel() for weight in opened.module.parameters()) < 200_000
