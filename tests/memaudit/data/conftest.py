"""A file server on 127.0.0.1."""

import threading

import pytest
from file_server import Server


@pytest.fixture
def server():
    """A running server; a test sets the files that it has."""
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=[0.01], daemon=True).start()
        yield running
        running.shutdown()
