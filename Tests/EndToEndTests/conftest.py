"""Fixtures that several files use: servers, the spoken consultation and a browser."""

import collections
import contextlib
import json
import subprocess

import pytest

# Failed assertions in drivers show their values, as those in tests do. This must come before the imports.
pytest.register_assert_rewrite(
    "balancer", "chromium", "crash_load", "crash_scenarios", "crashes", "device_client", "emulator",
    "every_field.cases", "every_field.tenants", "http2_client", "http_recorder", "journal", "listen_client",
    "loop_probe", "messages", "namespaces", "recorded_sdk", "session_client", "shared_place", "tls", "visits",
    "webhooks", "websocket_driver")

from chromium import Target, trusting_browser  # noqa: E402
from costs import CostsPlugin, TogetherScheduling, unit  # noqa: E402
from device_client import FLAGS  # noqa: E402
from emulator import (  # noqa: E402
    DEMO, LONG, PATIENCE, PATIENT, RECOGNISER, ROOT, STRICT, TLS, running, wait_until,
)
from shared_place import bucket, postgres, replica  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

import speech  # noqa: E402  (in demo/, which `emulator` puts on the path)
from spoken import consultation  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "covers(*rows): rows of Tests/fidelity.yaml that the test asserts")
    config.addinivalue_line("markers", "full: too dear for each change; `make test-full` runs it")
    config.pluginmanager.register(CostsPlugin())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return TogetherScheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items):
    """Starts what takes longest first, so that no worker has much left at the end."""
    durations = ROOT / "Tests/durations.json"
    seconds = collections.Counter()
    for name, value in (json.loads(durations.read_text()) if durations.exists() else {}).items():
        seconds[unit(name)] += value
    items.sort(key=lambda item: -seconds[unit(item.path.stem)])


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Gives a function that returns the running server with these flags: one for all tests that ask for equal ones.

    Data are in a folder that is deleted at the end, unless the flags name another.
    """
    servers = {}
    with contextlib.ExitStack() as stack:
        def served(*flags: str):
            if flags not in servers:
                data = () if "--data-dir" in flags else ("--ephemeral",)
                folder = tmp_path_factory.mktemp("served")
                temporary = folder / "temporary"
                temporary.mkdir()
                environment = {"TMPDIR": str(temporary)}
                servers[flags] = stack.enter_context(running(folder, *data, *flags, environment=environment))
            assert servers[flags].process.poll() is None, f"an earlier test ended the server\n{servers[flags].log}"
            return servers[flags]

        yield served
    left = [file for server in servers.values() for file in (server.folder / "temporary").iterdir()]
    assert not left, "a stop removes all temporary files"


@pytest.fixture(scope="session")
def usual_server(served):
    """The server that most tests share: the defaults, with short waits."""
    return served("--long-poll", "3s", "--object-wait", "1s", *TLS)


@pytest.fixture(scope="session")
def server(usual_server):
    """The same, unless a module has another one in its place."""
    return usual_server


@pytest.fixture(scope="session")
def patient(served):
    """A server that ends nothing for being idle or late."""
    return served(*PATIENT)


@pytest.fixture(scope="session")
def strict(served):
    """A server that verifies tokens."""
    return served(*STRICT)


@pytest.fixture(scope="session")
def listening(served):
    """A server with a real recogniser, which skips no ambient session for being short."""
    return served(
        "--long-poll", "3s", "--object-wait", "1s", "--suki-shortest", "0s", "--transcriber", RECOGNISER, *TLS)


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return (DEMO / "consultation.txt").read_text().splitlines()


@pytest.fixture(scope="session")
def spoken(sentences):
    """The samples of the whole consultation."""
    return consultation(sentences)


@pytest.fixture(scope="session")
def chunks(spoken, tmp_path_factory):
    """The consultation as the iOS SDK cuts and encodes it."""
    return speech.chunks(spoken, tmp_path_factory.mktemp("chunks"))


@pytest.fixture(scope="session")
def ambient(served):
    """A server that skips no ambient session for being short."""
    return served(*LONG)


@pytest.fixture(scope="session")
def browser(usual_server, tmp_path_factory):
    """Starts Chromium. Gives a function that connects to a DevTools target by its path, and the path of the browser's.
    """
    folder = tmp_path_factory.mktemp("browser")
    trusting = trusting_browser(usual_server, folder)
    process = subprocess.Popen(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder / 'profile'}",
         # A question to the user that not every browser asks.
         "--disable-features=LocalNetworkAccessChecks", "--remote-debugging-port=0",
         f"{trusting['flags'][0]}, MAP *.example 127.0.0.1"],
        env=trusting["environment"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    ready = folder / "profile/DevToolsActivePort"
    try:
        wait_until(lambda: ready.exists() and "\n" in ready.read_text(), "the browser listens")
        port, path = ready.read_text().splitlines()
        yield lambda path: connect(f"ws://127.0.0.1:{port}{path}", max_size=None), path
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


@pytest.fixture(scope="session")
def visit(browser):
    """Gives a function that opens a page as a new visitor does, and returns what the page posts to a queue."""
    connected, path = browser

    def visit(url: str, posted):
        with connected(path) as socket:
            chromium = Target(socket)
            visitor = chromium.call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
            chromium.call("Target.createTarget", url=url, browserContextId=visitor)
            return posted.get(timeout=PATIENCE)

    return visit


@pytest.fixture
def tab(browser):
    """Gives a function that opens an empty page of an origin. All pages of a test share one browser context."""
    connected, path = browser
    with contextlib.ExitStack() as sockets:
        chromium = Target(sockets.enter_context(connected(path)))
        visitor = chromium.call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
        chromium.call("Browser.setDownloadBehavior", behavior="deny", browserContextId=visitor)

        def tab(origin: str) -> Target:
            made = chromium.call("Target.createTarget", url="about:blank", browserContextId=visitor)
            page = Target(sockets.enter_context(connected(f"/devtools/page/{made['targetId']}")))
            page.call("Page.enable")
            page.call("Fetch.enable", patterns=[{"urlPattern": "*/page"}])
            assert page.open(f"{origin}/page")
            return page

        yield tab


@pytest.fixture(scope="session")
def omi(served):
    """A server that ends conversations after 2 s of silence, and sockets after 4 s without a message."""
    return served(*FLAGS[1:])


@pytest.fixture(scope="module")
def place():
    """A PostgreSQL cluster, and a bucket by its endpoint and a client for it."""
    with postgres() as database, bucket() as (endpoint, client):
        yield database, endpoint, client


@pytest.fixture
def replicas(place, tmp_path):
    """Two servers on a schema of their own."""
    database, endpoint, _ = place
    schema = database.schema()
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(replica(tmp_path / name, schema, endpoint, "--long-poll", "3s"))
            for name in ("first", "second")]
