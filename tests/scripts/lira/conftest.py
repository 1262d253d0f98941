"""One planted score matrix for all scripts of the study."""

import pytest
from lira_grids import RECORDS, efficient


@pytest.fixture(scope="session")
def grid_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("lira") / "efficient.nc"
    efficient(path)
    return path


@pytest.fixture(scope="session")
def whole_path(tmp_path_factory):
    """A matrix of which every record is a member."""
    path = tmp_path_factory.mktemp("lira") / "whole.nc"
    efficient(path, members=RECORDS)
    return path


@pytest.fixture(scope="session")
def null_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("lira") / "null.nc"
    efficient(path, gap=0.0)
    return path
