"""Fixtures for tests against scribe-emulator: a server, a namespace for each test, and its requests when the test
fails."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest

#: In seconds.
_START_TIME, _STOP_TIME = 60, 30
#: Without the proxies of the environment: the server is on this machine, or beside it.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def pytest_addoption(parser):
    text = "program of the server, unless SCRIBE_BINARY names one; a path is relative to the root folder"
    parser.addini("scribe_binary", text, default="scribe-emulator")


class Refused(Exception):
    """A call of the operator API was refused."""

    def __init__(self, status: int, problem: dict):
        super().__init__(f"{status}: {problem.get('detail', problem)}")
        self.status, self.problem = status, problem


class Unreachable(ConnectionError):
    """No scribe-emulator answers at a URL."""

    def __init__(self, url: str, reason):
        super().__init__(f"no scribe-emulator answers at {url}: {reason}")
        self.reason = reason


class Deleted(Exception):
    """A call for a namespace that the test has deleted."""


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
        try:
            request = urllib.request.Request(f"{self.root}/__admin/{path}", data, headers, method=method)
            # Longer than the longest wait of the server, which is ten minutes.
            with _OPENER.open(request, timeout=630) as answer:
                text = answer.read()
            return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            text = error.read()
            try:
                problem = dict(json.loads(text))
            except (TypeError, ValueError):
                problem = {"detail": text.decode(errors="replace")[:200]}
            raise Refused(error.code, problem) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Unreachable(self.root, getattr(error, "reason", error)) from None

    def namespace(self) -> Namespace:
        return Namespace(self, self.control("POST", "namespaces", {}))


class Namespace:
    """Data, clients, clock, fault rules and journal of one test."""

    def __init__(self, scribe: Scribe, made: dict):
        self.scribe, self.name = scribe, made["name"]
        #: Base URL for an SDK.
        self.url = scribe.root + made["path"]
        self.client_id, self.client_secret, self.api_key = made["client_id"], made["client_secret"], made["api_key"]
        #: The API key for SDKs that accept 40 hex digits only.
        self.api_key_hex = made["api_key_hex"]
        self._is_deleted = False
        #: The report before the namespace was deleted.
        self._last_report: str | None = None

    def control(self, method: str, path: str, body=None):
        """Calls `/__admin/PATH` for this namespace. A DELETE of the namespace itself is `delete()`."""
        if self._is_deleted:
            raise Deleted(f"the test has deleted its namespace {self.name}; scribe.namespace() makes another one")
        if (method.upper(), path) == ("DELETE", f"namespaces/{self.name}"):
            return self.delete()
        return self.scribe.control(method, path, body, self.name)

    def verify(self, **match) -> list[int]:
        """Expects matching requests: at least one, or `times`, `at_least`, `at_most`. Returns their numbers."""
        __tracebackhide__ = True
        return self._expected("requests/verify", match)

    def wait(self, timeout: str = "10s", **match) -> list[int]:
        """Waits until an expectation is met, such as a webhook in the background."""
        __tracebackhide__ = True
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

    def lint(self, **scope) -> list[dict]:
        """What the clients did wrong, the gravest first. `transaction`, `business` or `since` narrow it down.

        It waits up to 30 s for the results of committed recordings; `timeout` is another time.
        """
        return self._linted(scope)["findings"]

    def _linted(self, scope: dict) -> dict:
        return self.control("GET", f"lint?{urllib.parse.urlencode({'timeout': '30s', **scope})}")

    def delete(self) -> None:
        """Deletes the namespace. A namespace that has ended is no error: deleted before, expired, or with its server.

        - Raises: `Refused` or `Unreachable` if the namespace may still be there.
        """
        if self._is_deleted:
            return
        # The test, or a fixture that ended before this one, may have failed. Its report is made later.
        self._last_report = self.report()
        try:
            self.scribe.control("DELETE", f"namespaces/{self.name}")
        except (Refused, Unreachable) as error:
            if not _has_ended(error):
                raise
        self._is_deleted = True

    def report(self) -> str:
        """One line for each of the last requests, or why they cannot be shown."""
        if self._is_deleted:
            return self._last_report
        try:
            listed = self.control("GET", "requests?limit=100")
        except (Refused, Unreachable) as error:
            # The server of a session ends before the report of its last teardown is made.
            return self._last_report or str(error)
        lines = [_line(each) for each in listed["requests"]] or ["no requests"]
        if listed["dropped"]:
            lines.insert(0, f"{listed['dropped']} earlier ones are gone")
        return "\n".join(lines)

    def lint_report(self) -> tuple[str, str]:
        """Two texts for a person: the errors that `lint` finds, and its warnings and notes.

        Both are empty for a namespace that has ended. The first one says why there is no lint, if that fails.
        """
        if self._is_deleted:
            return "", ""
        try:
            answer = self._linted({})
        except (Refused, Unreachable) as error:
            return "" if _has_ended(error) else f"no lint: {error}", ""
        rules = {rule["id"]: rule for rule in answer["rules"]}
        texts = []
        for is_error in (True, False):
            findings = [each for each in answer["findings"] if (each["severity"] == "error") == is_error]
            texts.append(_findings(findings, rules))
        return texts[0], texts[1]


def _has_ended(error: Refused | Unreachable) -> bool:
    """Whether an error says that the namespace has ended: deleted in another way, expired, or with its server."""
    if isinstance(error, Refused):
        # A 404 of another route, or of another server, has another code.
        return (error.status, error.problem.get("code")) == (404, "not_found")
    # Namespaces end with their server. One that breaks off or is late may have them still.
    return isinstance(error.reason, ConnectionRefusedError)


def _findings(findings: list[dict], rules: dict[str, dict]) -> str:
    """Each finding with its place and its row, and once for each rule the consequence and the remedy."""
    lines, explained = [], set()
    for each in findings:
        numbers = ", ".join(map(str, each["requests"]))
        requests = f"request{'s' if len(each['requests']) > 1 else ''} {numbers}" if numbers else ""
        place = ", ".join(part for part in (each.get("transaction"), requests) if part)
        lines.append(
            f"{each['severity']}: {each['message']}{f' ({place})' if place else ''} [{each['rule']}, {each['row']}]")
        if each["rule"] not in explained:
            explained.add(each["rule"])
            rule = rules[each["rule"]]
            lines += [f"    {rule['title']}. {rule['why']}", f"    {rule['fix']}"]
    return "\n".join(lines)


def _line(request: dict) -> str:
    words = [
        str(request["id"]), "" if request["kind"] == "request" else request["kind"], request["method"],
        request.get("path") or request.get("route") or "-", str(request.get("status", request["end"])),
        request.get("operation", ""), f"fault {request['fault']}" if "fault" in request else "",
        "meant: {method} {path}?".format(**request["nearest"]) if "nearest" in request else "",
        request.get("reason", ""),
    ]
    return "  ".join(word for word in words if word)


def _start(binary: str, folder: str) -> tuple[subprocess.Popen, str]:
    """Starts a server in a folder. Returns its process and base URL, or fails the tests that need it."""
    if not (program := shutil.which(binary)):
        pytest.fail(f"no scribe-emulator: {binary} is not there; set SCRIBE_BINARY or SCRIBE_BASE_URL", pytrace=False)
    ready, log = os.path.join(folder, "ready.json"), os.path.join(folder, "log")
    # The server takes all other SCRIBE_ variables as settings.
    environment = {name: value for name, value in os.environ.items() if name != "SCRIBE_BINARY"}
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [os.path.abspath(program), "serve", "--port", "0", "--ephemeral", "--ready-file", ready,
             # Nothing else ends it where this process ends without its fixtures, as by a signal.
             "--exit-with-parent", str(os.getpid())],
            cwd=folder, env=environment, stdout=output, stderr=output)
    end = time.monotonic() + _START_TIME
    while time.monotonic() < end and process.poll() is None:
        try:
            with open(ready) as file:
                return process, json.load(file)["base_url"]
        except (OSError, ValueError):
            time.sleep(0.02)
    process.kill()
    process.wait()
    with open(log, errors="replace") as file:
        pytest.fail(f"scribe-emulator did not start:\n{file.read()[-2000:]}", pytrace=False)


def _binary(config: pytest.Config) -> str:
    if binary := os.environ.get("SCRIBE_BINARY"):
        return binary
    binary = config.getini("scribe_binary")
    return str(config.rootpath / binary) if os.path.dirname(binary) else binary


@pytest.fixture(scope="session")
def scribe(pytestconfig) -> Iterator[Scribe]:
    """The server of SCRIBE_BASE_URL, or one that is started for the session."""
    if url := os.environ.get("SCRIBE_BASE_URL"):
        found, refusal = Scribe(url), None
        try:
            found.control("GET", "info")
        except (Refused, Unreachable) as error:
            refusal = f"SCRIBE_BASE_URL: {error}"
        # Outside of the handler: pytest shows the exceptions that are handled as well.
        if refusal:
            pytest.fail(refusal, pytrace=False)
        yield found
        return
    with tempfile.TemporaryDirectory() as folder:
        process, url = _start(_binary(pytestconfig), folder)
        try:
            yield Scribe(url)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_TIME)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


_NAMESPACE = pytest.StashKey()
#: What the report of a failed test says of `lint`; None before the test has failed.
_LINT = pytest.StashKey()


@pytest.fixture
def scribe_namespace(scribe, request) -> Iterator[Namespace]:
    """A namespace of the test's own."""
    namespace = scribe.namespace()
    request.node.stash[_NAMESPACE] = namespace
    yield namespace
    namespace.delete()


@pytest.fixture
def scribe_lint(scribe_namespace, request) -> Iterator[None]:
    """Fails the test at its end if `lint` finds an error in its namespace. A test that has failed does not fail again.
    """
    request.node.stash[_LINT] = None
    yield
    if request.node.stash[_LINT] is not None:
        return
    errors, request.node.stash[_LINT] = scribe_namespace.lint_report()
    if errors:
        pytest.fail(errors, pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    namespace = item.stash.get(_NAMESPACE, None)
    if report.failed and namespace:
        report.sections.append(("scribe requests", namespace.report()))
        if _LINT in item.stash:
            if item.stash[_LINT] is None:
                item.stash[_LINT] = "\n".join(text for text in namespace.lint_report() if text)
            if item.stash[_LINT]:
                report.sections.append(("scribe lint", item.stash[_LINT]))
