"""The address of weights on a hub."""

import pytest

from memaudit.common.hub_address import hub_address

HUB = {"repo": "owner/name", "revision": "v2"}


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ({}, "owner/name@v2"),
        ({"file": None, "folder": None}, "owner/name@v2"),
        ({"file": "small.ckpt"}, "owner/name/small.ckpt@v2"),
        ({"file": None, "folder": "classification"}, "owner/name/classification@v2"),
        ({"folder": "."}, "owner/name@v2"),
    ],
)
def test_a_repository_a_file_or_a_folder_with_its_revision(place, address):
    assert hub_address(HUB | place) == address
