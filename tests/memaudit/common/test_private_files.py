"""Files of a user are for the user alone."""

import os
import stat

from memaudit.common.private_files import keep_private


def test_a_users_files_are_theirs_alone(tmp_path):
    before = os.umask(0o022)
    try:
        keep_private(tmp_path / "data" / "records.parquet")
        (tmp_path / "data" / "records.parquet").write_text("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data" / "records.parquet").stat().st_mode) == 0o600
