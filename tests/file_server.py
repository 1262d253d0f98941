"""A file server on 127.0.0.1 that can break off an answer, with or without Range requests."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves `files` (path -> bytes); the next answer breaks off after `cut` bytes; keeps the Range headers it saw."""

    def __init__(self, ranges=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cut, self.ranges, self.seen, self.tag = {}, None, ranges, [], '"one"'
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append(self.headers.get("Range"))
        body = server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        start = 0
        if server.ranges and self.headers.get("Range") and self.headers.get("If-Range") == server.tag:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        if start >= len(body) > 0 and start:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        if server.ranges:
            self.send_header("ETag", server.tag)
        self.end_headers()
        cut, server.cut = server.cut, None
        self.wfile.write(body[start : start + cut if cut else None])
        if cut:
            self.close_connection = True

    def log_message(self, *_):
        pass
