"""Chromium: pages for it, a browser that trusts a server's authority, and tabs driven over the DevTools protocol."""

import base64
import contextlib
import itertools
import json
import os
import pathlib
import queue
import ssl
import subprocess

from cross_site import ACCOUNT, JSON, LOGIN
from emulator import PATIENCE, wait_until
from http_recorder import Answer, HTTPRecorder, Request


@contextlib.contextmanager
def serving(content: dict[str, bytes], encryption: ssl.SSLContext | None = None):
    """Serves these paths to a page. Gives the port, and a queue of what the page POSTs."""
    posted = queue.Queue()

    def answer(request: Request) -> Answer:
        if request.method == "POST":
            posted.put(request.json)
            return Answer(204)
        kind = "text/html" if request.path == "/" else "application/octet-stream"
        kind = "text/javascript" if request.path.endswith(".js") else kind
        return Answer(200 if request.path in content else 404, content.get(request.path, b""), kind)

    with HTTPRecorder(answer, encryption=encryption) as site:
        yield site.port, posted


def browse(url: str, profile: pathlib.Path, posted: queue.Queue, *flags: str, environment=None):
    """What the page posts back when it is opened in Chromium."""
    browser = subprocess.Popen(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}", *flags, url],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    try:
        return posted.get(timeout=PATIENCE)
    finally:
        browser.terminate()
        browser.wait(timeout=PATIENCE)


def trusting_browser(server, home: pathlib.Path) -> dict:
    """The flags and environment of a browser that finds the hosts of SDKs at a server, and trusts its authority as
    `scribe-emulator trust` says."""
    store = home / ".pki/nssdb"
    store.mkdir(parents=True)
    subprocess.run(["certutil", "-d", f"sql:{store}", "-N", "--empty-password"], check=True)
    subprocess.run(
        ["certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", "scribe-emulator", "-i", server.authority],
        check=True)
    rules = [f"MAP {host} 127.0.0.1:{server.tls_port}" for host in ("*.eka.care", "*.amazonaws.com")]
    return {
        "flags": [f"--host-resolver-rules={', '.join(rules)}"], "environment": {**os.environ, "HOME": str(home)},
    }


class Navigated(Exception):
    """The page went away while a script ran on it."""


class Target:
    """Of Chromium's DevTools protocol. A tab has an empty page at `/page` of every origin, without asking anybody for
    it: of the server's own too, and of a name that leads to the server."""

    def __init__(self, socket):
        self.socket, self.numbers, self.events = socket, itertools.count(1), set()

    def send(self, method: str, **parameters) -> int:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        return number

    def call(self, method: str, **parameters) -> dict:
        number = self.send(method, **parameters)
        while (message := json.loads(self.socket.recv(timeout=PATIENCE))).get("id") != number:
            self.events.add(message.get("method"))
            if message.get("method") == "Fetch.requestPaused":
                self.send(
                    "Fetch.fulfillRequest", requestId=message["params"]["requestId"], responseCode=200,
                    responseHeaders=[{"name": "Content-Type", "value": "text/html"}],
                    body=base64.b64encode(b"<!doctype html>").decode())
        if "navigated" in message.get("error", {}).get("message", ""):
            raise Navigated(message)
        assert "error" not in message, message
        return message["result"]

    def open(self, url: str) -> bool:
        """Whether it is shown, and not saved."""
        if self.call("Page.navigate", url=url)["isDownload"]:
            return False
        wait_until(lambda: self.run("document.readyState") == "complete", f"{url} is loaded")
        return True

    def run(self, script: str):
        """What it comes to."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def fetch(self, url: str, **options) -> dict:
        """With cookies, as a web app does."""
        options = json.dumps({"credentials": "include", **options})
        return self.run(f"""fetch({json.dumps(url)}, {options}).then(
            async answer => ({{ status: answer.status, type: answer.type, text: await answer.text() }}))""")

    def post(self, url: str, body: str, **options) -> dict:
        return self.fetch(url, method="POST", body=body, **{"headers": JSON, **options})

    def log_in(self, api: str):
        assert self.post(f"{api}{ACCOUNT}/login", LOGIN)["status"] == 200
