"""A stand-in of a Kubernetes API server on 127.0.0.1, which runs jobs when they are sent and keeps them."""

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml


class Server(ThreadingHTTPServer):
    """run: called with each job's description, returns its exit code. jobs: the descriptions, by name."""

    def __init__(self, run: Callable[[dict[str, Any]], int]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.run, self.jobs, self.codes, self.deleted = run, {}, {}, set()

    def config(self) -> str:
        """Text of a file for KUBECONFIG."""
        names = {"cluster": "here", "user": "me"}
        return yaml.safe_dump(
            {
                "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{self.server_port}"}}],
                "users": [{"name": "me", "user": {}}],
                "contexts": [{"name": "here", "context": names}],
                "current-context": "here",
            }
        )


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/jobs"):
            name = sent["metadata"]["name"]
            self.server.jobs[name] = sent
            self.server.codes[name] = self.server.run(sent)
        self.answer(sent)

    def do_GET(self):
        if job := re.search(r"/jobs/(\S+)/status$", self.path):
            ended = "failed" if self.server.codes[job[1]] else "succeeded"
            self.answer(self.server.jobs[job[1]] | {"status": {ended: 1}})
        else:
            self.answer({"items": []})  # pods: the job's status says all

    def do_DELETE(self):
        self.server.deleted.add(self.path.split("?")[0].split("/")[-1])
        self.answer({})

    def answer(self, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass
