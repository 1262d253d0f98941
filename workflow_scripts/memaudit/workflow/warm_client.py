"""Stands in for Python's executable: has a script run by a process that `warm_interpreter` forks.

python -I -S warm_client.py SOCKET SCRIPT [ARGUMENTS]

Standard library only, and started without site packages: it costs some milliseconds. Working folder, environment,
umask, standard streams and exit code are those of this process. A signal that ends it ends the script, and the other
way round.
"""

import json
import os
import signal
import socket
import sys


def main(arguments: list[str]) -> int:
    """Return the exit code of the script."""
    path, *command = arguments
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        os.umask(umask := os.umask(0))
        wanted = {"folder": os.getcwd(), "environment": dict(os.environ), "command": command, "umask": umask}
        request = json.dumps(wanted).encode()
        socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(request)
        process = int.from_bytes(connection.recv(8), "big")

        def forward(number: int, _: object) -> None:
            os.kill(process, number)

        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, forward)
        answer = connection.recv(2)
    ended = int.from_bytes(answer, "big", signed=True) if answer else 1
    if ended < 0:
        if -ended in (signal.SIGTERM, signal.SIGINT):
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
