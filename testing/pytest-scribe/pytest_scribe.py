"""Fixtures for tests against scribe-emulator: a server, a namespace for each test, and its requests when the test fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

_START_TIME = 60


def pytest_addoption(parser):
    parser.addini("scribe_binary", "program of the server, unless SCRIBE_BINARY names one", default="scribe-emulator")


class Refused(Exception):
    """A call of the operator API was refused."""

    def __init__(self, status: int, problem: dict):
        super().__init__(f"{status}: {problem.get('detail', problem)}")
        self.status, self.problem = status, problem


class Scribe:
    """A running server."""

    def __init__(self, url: str):
        self.url = url.rstrip("/")
        # SCRIBE_BASE_URL of `exec --ns` ends with the prefix of a namespace.
        self.root = self.url.partition("/ns/")[0]

    def control(self, method: str, path: str, body=None, namespace: str | None = None):
        """Calls `/__admin/PATH`. Returns the JSON of the answer; None for none."""
        headers = {"Content-Type": "application/json"}
        if namespace:
            headers["X-Scribe-Namespace"] = namespace
        if token := os.environ.get("SCRIBE_ADMIN_TOKEN"):
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.root}/__admin/{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=630) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read()
            try:
                problem = json.loads(text)
            except ValueError:
                problem = {"detail": text.decode(errors="replace")[:200]}
            raise Refused(error.code, problem) from None
        return json.loads(text) if text else None

    def namespace(self) -> Namespace:
        return Namespace(self, self.control("POST", "namespaces", {}))


class Namespace:
    """Data, clients, clock, fault rules and journal of one test."""

    def __init__(self, scribe: Scribe, made: dict):
        self.scribe, self.name = scribe, made["name"]
        #: Base URL for an SDK.
        self.url = scribe.root + made["path"]
        self.client_id, self.client_secret, self.api_key = made["client_id"], made["client_secret"], made["api_key"]

    def control(self, method: str, path: str, body=None):
        return self.scribe.control(method, path, body, self.name)

    def verify(self, **match) -> list[int]:
        """Expects matching requests: at least one, or `times`, `at_least`, `at_most`. Returns their numbers."""
        return self._expected("requests/verify", match)

    def wait(self, timeout: str = "10s", **match) -> list[int]:
        """Waits until an expectation is met, such as a webhook in the background."""
        return self._expected("requests/wait", {**match, "timeout": timeout})

    def _expected(self, path: str, match: dict) -> list[int]:
        __tracebackhide__ = True
        try:
            return self.control("POST", path, match)["matched"]
        except Refused as refused:
            if refused.status != 422:
                raise
            raise AssertionError(refused.problem["diff"]) from None

    def requests(self, **match) -> list[dict]:
        """Matching requests with their bodies, the oldest first; at most the last hundred."""
        return self.control("POST", "requests/find", {"limit": 100, **match})["requests"]

    def unmatched(self) -> list[dict]:
        """Refused requests that reached no operation, each with the `nearest` one."""
        return self.control("GET", "requests/unmatched")["requests"]

    def fail_next(self, **rule) -> str:
        """Makes the next matching request fail, such as `operation="commitTransaction", status=503`."""
        return self.control("POST", "faults/next", rule)["id"]

    def fault(self, **rule) -> str:
        """Adds a fault rule."""
        return self.control("POST", "faults", rule)["id"]

    def advance(self, by: str) -> dict:
        """Moves the clock, and returns when all that became due is done."""
        return self.control("POST", "clock/advance", {"by": by})

    def delete(self):
        self.scribe.control("DELETE", f"namespaces/{self.name}")

    def report(self) -> str:
        """One line for each of the last requests."""
        try:
            listed = self.control("GET", "requests?limit=100")
        except Refused as refused:
            return str(refused)
        lines = [_line(each) for each in listed["requests"]] or ["no requests"]
        if listed["dropped"]:
            lines.insert(0, f"{listed['dropped']} earlier ones are gone")
        return "\n".join(lines)


def _line(request: dict) -> str:
    words = [
        str(request["id"]), "" if request["kind"] == "request" else request["kind"], request["method"],
        request.get("path") or request.get("route") or "-", str(request.get("status", request["end"])),
        request.get("operation", ""), f"fault {request['fault']}" if "fault" in request else "",
        "meant: {method} {path}?".format(**request["nearest"]) if "nearest" in request else "", request.get("reason", ""),
    ]
    return "  ".join(word for word in words if word)


def _start(binary: str, folder: str) -> tuple[subprocess.Popen, str]:
    if not (program := shutil.which(binary)):
        raise pytest.UsageError(f"no scribe-emulator: {binary} is not there; set SCRIBE_BINARY or SCRIBE_BASE_URL")
    ready = os.path.join(folder, "ready.json")
    with open(os.path.join(folder, "log"), "wb") as log:
        process = subprocess.Popen(
            [program, "serve", "--port", "0", "--ephemeral", "--ready-file", ready], cwd=folder, stdout=log, stderr=log)
    end = time.monotonic() + _START_TIME
    while time.monotonic() < end and process.poll() is None:
        try:
            with open(ready) as file:
                return process, json.load(file)["base_url"]
        except (OSError, ValueError):
            time.sleep(0.05)
    process.kill()
    with open(os.path.join(folder, "log"), errors="replace") as file:
        raise pytest.UsageError(f"scribe-emulator did not start:\n{file.read()[-2000:]}")


@pytest.fixture(scope="session")
def scribe(pytestconfig) -> Scribe:
    """The server of SCRIBE_BASE_URL, or one that is started for the session."""
    if url := os.environ.get("SCRIBE_BASE_URL"):
        yield Scribe(url)
        return
    with tempfile.TemporaryDirectory() as folder:
        binary = os.environ.get("SCRIBE_BINARY") or pytestconfig.getini("scribe_binary")
        process, url = _start(binary, folder)
        try:
            yield Scribe(url)
        finally:
            process.terminate()
            process.wait(30)


_NAMESPACE = pytest.StashKey()


@pytest.fixture
def scribe_namespace(scribe, request) -> Namespace:
    """A namespace of the test's own."""
    namespace = scribe.namespace()
    request.node.stash[_NAMESPACE] = namespace
    yield namespace
    namespace.delete()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    namespace = item.stash.get(_NAMESPACE, None)
    if call.when == "call" and report.failed and namespace:
        try:
            text = namespace.report()
        except OSError as error:
            text = f"the server does not answer: {error}"
        report.sections.append(("scribe requests", text))
