"""Stands for a recogniser with OpenAI's interface, on port 9000."""

import http.server
import json


class Recogniser(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps({"text": "I have a fever."}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer


http.server.ThreadingHTTPServer(("127.0.0.1", 9000), Recogniser).serve_forever()
