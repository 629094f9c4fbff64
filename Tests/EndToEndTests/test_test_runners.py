"""Test runners as docs/ci.md prints them: pytest with the plugin, Node's runner and JUnit."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from emulator import BINARY, PATIENCE, ROOT
from namespaces import control

PAGE = (ROOT / "docs/ci.md").read_text()
SUITE = '''
import json, urllib.request
import pytest

def begin_consultation(url, client_id, client_secret, mode="consultation"):
    def post(path, body, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
        request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
        return json.load(urllib.request.urlopen(request))
    login = {"client_id": client_id, "client_secret": client_secret}
    token = post("/connect-auth/v1/account/login", login)["access_token"]
    body = {"mode": mode, "transfer": "vaded", "s3_url": "s3://bucket/260101/visit-1"}
    for _ in range(2):
        try:
            return post("/voice/api/v2/transaction/init/visit-1", body, token)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise

EXAMPLE

def test_what_was_not_sent(scribe_namespace):
    begin_consultation(scribe_namespace.url, scribe_namespace.client_id, scribe_namespace.client_secret)
    try:
        urllib.request.urlopen(scribe_namespace.url + "/voice/api/v2/transaktion/visit-1")
    except urllib.error.HTTPError:
        pass
    assert scribe_namespace.unmatched()[0]["nearest"]["operation"] == "readTransaction"
    assert scribe_namespace.wait("50ms", operation="initTransaction") == [
        each["id"] for each in scribe_namespace.requests(operation="initTransaction")]
    scribe_namespace.verify(operation="initTransaction", body={"mode": "dictation"})

def test_an_unknown_operation(scribe_namespace):
    scribe_namespace.verify(operation="initTransactoin")

@pytest.fixture
def login_once(scribe_namespace):
    yield
    scribe_namespace.verify(operation="login", times=1)

def test_a_fixture_that_verifies(scribe_namespace, login_once):
    urllib.request.urlopen(scribe_namespace.url + "/voice/ping")
'''
#: A test whose setup fails after its namespace was made.
SETUP = '''
import pytest, urllib.request

@pytest.fixture
def client(scribe_namespace):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(scribe_namespace.url + "/voice/ping")
    raise RuntimeError("no client")

def test_setup(client):
    pass
'''
#: Tests that delete their namespace, and tests whose namespace cannot be deleted.
DELETED = '''
import http.server, threading, urllib.request
import pytest, pytest_scribe

@pytest.mark.parametrize("way", ["delete", "its control", "control of the server"])
def test_deleted(scribe, scribe_namespace, way):
    path = "namespaces/" + scribe_namespace.name
    if way == "delete":
        scribe_namespace.delete()
    else:
        (scribe if way == "control of the server" else scribe_namespace).control("DELETE", path)
    with pytest.raises(pytest_scribe.Refused, match="404: There is no such namespace"):
        scribe.control("GET", path)
    scribe_namespace.delete()

@pytest.mark.parametrize("call", [
    lambda deleted: deleted.verify(operation="login"), lambda deleted: deleted.wait(operation="login"),
    lambda deleted: deleted.requests(), lambda deleted: deleted.unmatched(), lambda deleted: deleted.advance("1s"),
    lambda deleted: deleted.fail_next(status=503), lambda deleted: deleted.fault(status=503),
    lambda deleted: deleted.control("GET", "clock"),
])
def test_a_later_call(scribe_namespace, call):
    scribe_namespace.delete()
    with pytest.raises(pytest_scribe.Deleted) as deleted:
        call(scribe_namespace)
    assert str(deleted.value) == (
        f"the test has deleted its namespace {scribe_namespace.name}; scribe.namespace() makes another one")

def test_failed(scribe_namespace):
    urllib.request.urlopen(scribe_namespace.url + "/voice/ping")
    scribe_namespace.delete()
    raise RuntimeError("after the end")

class Other(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.server.status:
            self.send_error(self.server.status)
    do_DELETE = do_GET

@pytest.fixture
def other_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    yield server
    server.shutdown()
    server.server_close()

@pytest.mark.parametrize("status", [403, 404, 500, None])
def test_not_deleted(other_server, scribe_namespace, status):
    other_server.status = status
    scribe_namespace.scribe = pytest_scribe.Scribe(f"http://127.0.0.1:{other_server.server_port}")

def test_a_wrong_path(scribe_namespace):
    scribe_namespace.name += "/other"
'''
#: Tests whose namespace ends without them.
ENDED = '''
import gc, subprocess, threading

def test_expired(scribe, scribe_namespace):
    while scribe_namespace.name in [each["name"] for each in scribe.control("GET", "namespaces")["namespaces"]]:
        threading.Event().wait(0.02)

def test_with_the_server(scribe_namespace):
    (server,) = [each for each in gc.get_objects() if isinstance(each, subprocess.Popen) and "serve" in each.args]
    server.kill()
    server.wait()

def test_without_a_server(scribe_namespace):
    pass
'''
#: Tests whose clients make mistakes, or none. Without a token, a repeated stop is one that only warns.
LINT = '''
import datetime, urllib.error, urllib.request
import pytest

pytestmark = pytest.mark.usefixtures("scribe_lint")

def ping(namespace, query=""):
    urllib.request.urlopen(namespace.url + "/voice/ping" + query)

def stop_twice(namespace):
    for _ in range(2):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(namespace.url + "/voice/api/v2/transaction/stop/visit-1", b"{}")

def test_clean(scribe_namespace):
    ping(scribe_namespace)
    assert scribe_namespace.lint() == []

def test_a_warning(scribe_namespace):
    stop_twice(scribe_namespace)
    assert [each["rule"] for each in scribe_namespace.lint()] == ["retry-refused"]
    assert scribe_namespace.lint(since=datetime.datetime.now(datetime.timezone.utc).isoformat()) == []

def test_deleted(scribe_namespace):
    ping(scribe_namespace, "?access_token=hidden")
    scribe_namespace.delete()

def test_deleted_by_another(scribe, scribe_namespace):
    ping(scribe_namespace, "?access_token=hidden")
    scribe.control("DELETE", "namespaces/" + scribe_namespace.name)

def test_an_error(scribe_namespace):
    stop_twice(scribe_namespace)
    ping(scribe_namespace, "?access_token=hidden")
    ping(scribe_namespace, "?token=hidden")

def test_failed(scribe_namespace):
    stop_twice(scribe_namespace)
    ping(scribe_namespace, "?token=hidden")
    raise RuntimeError("the test's own")

@pytest.fixture
def client(scribe_namespace):
    yield
    ping(scribe_namespace, "?token=hidden")

def test_the_end_of_a_fixture(client):
    pass
'''
#: pytest plugins of this machine that the suite has no use for. They take a second to load, in each worker.
OTHERS = ("-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:anyio")


def blocks(section: str, language: str) -> list[str]:
    (text,) = re.findall(rf"(?ms)^## {section}\n(.*?)(?=^## |\Z)", PAGE)
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """With the program on the path, as an installed one is."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "scribe-emulator").symlink_to(BINARY)
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("SCRIBE_", "PYTEST_"))}
    return {**plain, "PATH": f"{folder}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def named(environment, tmp_path_factory):
    """With the program in SCRIBE_BINARY. The one on the path fails."""
    folder = tmp_path_factory.mktemp("decoy")
    program(folder / "scribe-emulator", "exit 99")
    return {**environment, "PATH": f"{folder}:{environment['PATH']}", "SCRIBE_BINARY": str(BINARY.absolute())}


def program(path, script: str):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def shell(script: str, environment: dict, folder) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["sh", "-e", "-c", script], env=environment, cwd=folder, capture_output=True, text=True, timeout=4 * PATIENCE)


@pytest.fixture(scope="module")
def suite(environment, tmp_path_factory):
    """A suite with the example of the page, and the plugin as pip installs it."""
    folder = tmp_path_factory.mktemp("suite")
    (install,) = blocks("pytest", "sh")
    (example,) = blocks("pytest", "python")
    source = folder / "source"
    # A build writes beside its source.
    subprocess.run(["cp", "-R", ROOT / "testing/pytest-scribe", source], check=True)
    install = install.replace("./testing/pytest-scribe", f"{source}").replace(
        "pip install", f"{sys.executable} -m pip install --quiet --no-deps --no-build-isolation --target plugin")
    result = shell(install, environment, folder)
    assert result.returncode == 0, result.stderr
    (folder / "test_suite.py").write_text(SUITE.replace("EXAMPLE", example))
    (folder / "test_setup.py").write_text(SETUP)
    (folder / "test_deleted.py").write_text(DELETED)
    (folder / "test_ended.py").write_text(ENDED)
    (folder / "test_lint.py").write_text(LINT)
    return folder


def run_suite(suite, environment, *arguments) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OTHERS, *arguments],
        env={**environment, "PYTHONPATH": str(suite / "plugin")}, cwd=suite, capture_output=True, text=True,
        timeout=4 * PATIENCE)
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stdout


def check_suite(output: str):
    assert "2 passed, 2 failed, 1 error" in ordered(output), output
    assert '-body={"mode":"dictation"}' in output and '+body=mode: "consultation"' in output
    assert re.search(r"POST  /voice/api/v2/transaction/init/visit-1  201  initTransaction", output)
    assert "meant: GET /voice/api/v2/transaction/{txn_id}?" in output
    assert "nearest: initTransaction" in output
    # The two failed tests, and the fixture that ended before the namespace did.
    assert output.count("scribe requests") == 3, output
    assert re.search(r"scribe requests -+\n1  GET  /voice/ping  200  ping\n", output), output


def ordered(output: str) -> str:
    """The counts of a run, in one order."""
    counts = dict(reversed(each) for each in re.findall(r"(\d+) (passed|failed|error)", output.splitlines()[-1]))
    return ", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "error") if name in counts)


def test_pytest_gives_each_test_a_namespace_and_reports_its_requests(suite, environment):
    check_suite(run_suite(suite, environment, "test_suite.py"))


def test_workers_start_servers_or_share_one(suite, environment, server):
    def names() -> set[str]:
        return {each["name"] for each in control(server, "GET", "namespaces").json()["namespaces"]}

    check_suite(run_suite(suite, environment, "-n", "2", "test_suite.py"))
    before = names()
    check_suite(run_suite(suite, {**environment, "SCRIBE_BASE_URL": server.base_url}, "-n", "2", "test_suite.py"))
    assert names() == before


def test_a_failed_setup_shows_the_requests_too(suite, environment):
    binary = shutil.which("scribe-emulator", path=environment["PATH"])
    # Relative to the root folder, and past a proxy that no request may reach.
    relative = os.path.relpath(binary, suite)
    dead = {**environment, "http_proxy": "http://127.0.0.1:1"}
    output = run_suite(suite, dead, "-o", f"scribe_binary={relative}", "test_setup.py")
    assert re.search(r"scribe requests -+\n1  GET  /voice/ping  200  ping\n", output), output


def test_a_journal_that_is_off_is_named(suite, environment):
    output = run_suite(suite, {**environment, "SCRIBE_JOURNAL": "off"}, "test_suite.py", "-k", "unknown or example")
    assert re.search(r"scribe requests -+\n409: The journal is off", output), output


@pytest.mark.parametrize(("variables", "reason"), [
    ({"SCRIBE_BINARY": "no-such-program"}, "no-such-program is not there; set SCRIBE_BINARY or SCRIBE_BASE_URL"),
    ({"SCRIBE_LONG_POLL": "soon"}, "scribe-emulator did not start:\nError: SCRIBE_LONG_POLL: 'soon' is not a time"),
    ({"SCRIBE_BASE_URL": "http://127.0.0.1:1"}, "SCRIBE_BASE_URL: no scribe-emulator answers at http://127.0.0.1:1: "),
    ({"SCRIBE_BASE_URL": "127.0.0.1"}, "SCRIBE_BASE_URL: no scribe-emulator answers at 127.0.0.1: unknown url type"),
], ids=["no program", "a wrong setting", "no server", "no URL"])
def test_pytest_says_why_there_is_no_server(suite, environment, variables, reason):
    output = run_suite(suite, {**environment, **variables}, "test_setup.py")
    assert reason in output and "During handling" not in output and "pytest_scribe.py" not in output, output


def test_a_namespace_may_end_before_its_test_does(suite, environment, named):
    wide = {"COLUMNS": "200"}
    output = run_suite(suite, {**environment, **wide}, "test_deleted.py")
    assert ordered(output) == "16 passed, 1 failed, 5 error", output
    assert re.search(r"py:\d+: RuntimeError\n-+ scribe requests -+\n1  GET  /voice/ping  200", output), output
    for problem in (
        "test_not_deleted[403] - pytest_scribe.Refused: 403", "test_not_deleted[404] - pytest_scribe.Refused: 404",
        "test_not_deleted[500] - pytest_scribe.Refused: 500", "test_not_deleted[None] - pytest_scribe.Unreachable: ",
        "test_a_wrong_path - pytest_scribe.Refused: 404: No such route",
    ):
        assert f"ERROR test_deleted.py::{problem}" in output, output
    # The last report is made when the server has ended.
    assert output.count("scribe requests") == 6 and "Connection refused" not in output, output
    output = run_suite(suite, {**named, **wide, "SCRIBE_NAMESPACE_IDLE": "200ms"}, "test_ended.py")
    assert ordered(output) == "2 passed, 1 error" and "test_without_a_server - pytest_scribe.Unreachable" in output


def test_a_test_fails_for_what_its_client_did_wrong(suite, environment, server):
    place = {**environment, "SCRIBE_BASE_URL": server.base_url, "COLUMNS": "200"}
    output = run_suite(suite, place, "test_lint.py")
    # What pytest counts as an error is what a fixture raises after the test.
    assert ordered(output) == "6 passed, 1 failed, 2 error", output
    assert "hidden" not in output.replace("=hidden", "") and "pytest_scribe.py" not in output, output
    parts = re.split(r"(?m)^_{3,} (.*?) _{3,}\n", output)
    told = {name.rpartition(" ")[2]: text for name, text in zip(parts[1::2], parts[2::2])}
    explained = (
        "    A credential is in the address of a request. Addresses are written to the logs of servers, proxies and "
        "browsers.\n    Send it in Authorization, or in Sec-WebSocket-Protocol where a page opens a socket.\n")
    warning = r"warning: stopTransaction 1 time again after a refusal \(request 2\) \[retry-refused, eka.md 3.2\]\n"
    assert told["test_an_error"].startswith(
        "error: The parameter access_token of 1 request (request 3) [token-in-url, eka.md 1.3]\n" + explained
        + "error: The parameter token of 1 request (request 4) [token-in-url, eka.md 1.3]\n"), output
    assert re.search(rf"-+ scribe requests -+\n1 (?:.*\n)+-+ scribe lint -+\n{warning}    A request is repeated ",
                     told["test_an_error"]), output
    assert told["test_an_error"].count("error: ") == 2, output
    assert "RuntimeError: the test's own" in told["test_failed"], output
    assert re.search(
        rf"-+ scribe lint -+\nerror: The parameter token .*\n(?:    .*\n){{2}}{warning}", told["test_failed"]), output
    assert told["test_the_end_of_a_fixture"].startswith("error: The parameter token of 1 request"), output
    assert output.count("- Failed: error: The parameter ") == 2, output


def test_a_test_that_wants_lint_fails_without_a_journal(suite, environment):
    off = {**environment, "SCRIBE_JOURNAL": "off", "COLUMNS": "200"}
    output = run_suite(suite, off, "test_lint.py", "-k", "deleted or end_of")
    assert ordered(output) == "3 passed, 1 error" and "Failed: no lint: 409: The journal is off" in output, output


@pytest.mark.parametrize("is_named", [True, False], ids=["SCRIBE_BINARY", "no variable"])
def test_one_variable_names_the_program_for_pages_and_scripts(environment, tmp_path, is_named):
    # A server in the background is there before `ready` returns, as the real one is.
    recorder = """echo "${0##*/} $*" >>"$CALLS"
[ "$1" != ready ] || timeout 60 sh -c 'until grep -q " serve" "$CALLS"; do :; done'"""
    for name in ("bin/scribe-emulator", "bin/named", "bin/javac", ".venv/bin/python", ".build/debug/scribe-emulator"):
        program(tmp_path / name, recorder)
    (tmp_path / "demo").mkdir()
    shutil.copy(ROOT / "demo/run.sh", tmp_path / "demo")
    pages = {
        **environment, "PATH": f"{tmp_path}/bin:{environment['PATH']}", "CALLS": f"{tmp_path}/pages",
        **({"SCRIBE_BINARY": f"{tmp_path}/bin/named"} if is_named else {}),
    }
    script = "\n".join([
        *blocks("Node", "sh"), *blocks("JUnit", "sh"), *blocks("A server for your tests", "sh"),
        'CALLS="$PWD/demo/calls" demo/run.sh', "wait"])
    result = shell(script, pages, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    expected = "named" if is_named else "scribe-emulator"
    for calls, verbs in (("pages", ["env", "exec", "exec", "exec", "ready", "serve"]),
                         ("demo/calls", ["env", "ready", "serve"])):
        found = [line.split()[:2] for line in (tmp_path / calls).read_text().splitlines()]
        assert sorted(each for each in found if each[0] not in ("javac", "python")) == [
            [expected, verb] for verb in verbs]


def test_no_page_or_example_names_the_program_in_another_way():
    literal = re.compile(r"""["'`](?:[\w.$/{}-]*/)?scribe-emulator["'`]""")
    # The variable itself, the default of the plugin's option, and images.
    expected = re.compile(r"SCRIBE_BINARY|addini\(|Container(?:<>)?\(")
    variable = re.compile(r"\b(?!SCRIBE_BINARY\b)\w*(?:EMULATOR|SCRIBE)_(?:BIN|BINARY|COMMAND|EXECUTABLE|PROGRAM)\b")
    suffixes = {".md", ".mjs", ".java", ".py", ".sh", ".toml"}
    files = [each for folder in ("docs", "testing", "demo") for each in (ROOT / folder).rglob("*")]
    for file in [ROOT / "README.md", *(each for each in files if each.suffix in suffixes)]:
        text = file.read_text()
        code = "".join(re.findall(r"(?s)```\w+\n(.*?)```", text)) if file.suffix == ".md" else text
        assert [line for line in code.splitlines() if literal.search(line) and not expected.search(line)] == [], file
        assert not variable.search(text), file


def test_node_and_junit_run_as_the_page_prints_them(environment, tmp_path):
    (node,), (junit,) = blocks("Node", "sh"), blocks("JUnit", "sh")
    for path in ("testing/node/", "testing/junit/"):
        node, junit = node.replace(path, f"{ROOT}/{path}"), junit.replace(path, f"{ROOT}/{path}")
    result = shell(node, environment, tmp_path)
    assert result.returncode == 0 and "# pass 2" in result.stdout and "# fail 0" in result.stdout, (
        result.stdout + result.stderr)
    result = shell(junit, environment, tmp_path)
    assert result.returncode == 0 and "2 tests successful" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("runner", ["node", pytest.param("junit", marks=pytest.mark.full)])
def test_a_failed_test_shows_the_diff(named, tmp_path, runner):
    if runner == "node":
        source = (ROOT / "testing/node/scribe.test.mjs").read_text()
        (tmp_path / "scribe.test.mjs").write_text(source.replace('transaction: "visit-1", times: 2', "times: 3"))
        (node,) = blocks("Node", "sh")
        script = node.replace("testing/node/", ".")
    else:
        source = (ROOT / "testing/junit/ScribeTest.java").read_text()
        (tmp_path / "ScribeTest.java").write_text(source.replace(r"times\":2", r"times\":3"))
        (junit,) = blocks("JUnit", "sh")
        script = junit.replace("testing/junit/", f"{tmp_path}/")
    result = shell(script, named, tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    # Node indents the lines of a message.
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert "--- expected" in lines and "+operation=login" in lines, result.stdout
    assert "Expected 3 of operation=initTransaction, found 2" in result.stdout
