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

FORWARDED = (signal.SIGTERM, signal.SIGINT)


def main(arguments: list[str]) -> int:
    """Return the exit code of the script."""
    path, *command = arguments
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)  # until there is a process to hand them on to
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(path)
            process = _requested(connection, command)
            for one in FORWARDED:
                signal.signal(one, lambda number, _: os.kill(process, number))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
            answer = connection.recv(2)
    except (ConnectionError, FileNotFoundError):
        sys.stderr.write("memaudit: the process that jobs are forked from has ended; run the same command again\n")
        return 1
    ended = int.from_bytes(answer, "big", signed=True) if answer else 1
    if ended < 0:
        if -ended in FORWARDED:
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    return ended


def _requested(connection: socket.socket, command: list[str]) -> int:
    """Request a script; returns the id of its process. Raises ConnectionError if there is none."""
    os.umask(umask := os.umask(0))
    wanted = {"folder": os.getcwd(), "environment": dict(os.environ), "command": command, "umask": umask}
    request = json.dumps(wanted).encode()
    socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(request)
    if not (process := connection.recv(8)):
        raise ConnectionError
    return int.from_bytes(process, "big")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
