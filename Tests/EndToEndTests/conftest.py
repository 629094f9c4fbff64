"""Fixtures that several files use: servers, the spoken consultation and a browser."""

import contextlib
import json
import subprocess

import pytest

# Failed assertions in drivers show their values, as those in tests do. This must come before the imports.
pytest.register_assert_rewrite(
    "chromium", "crash_load", "crash_scenarios", "crashes", "device_client", "emulator", "every_field.cases",
    "every_field.tenants", "http2_client", "http_recorder", "journal", "balancer", "listen_client", "loop_probe",
    "messages", "shared_place", "namespaces", "session_client", "tls", "webhooks", "visits", "websocket_driver")

from chromium import Target, trusting_browser  # noqa: E402
from costs import CostsPlugin  # noqa: E402
from device_client import FLAGS  # noqa: E402
from emulator import DEMO, PATIENCE, ROOT, TLS, running, wait_until  # noqa: E402
from shared_place import bucket, postgres, replica  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

import speech  # noqa: E402  (in demo/, which `emulator` puts on the path)


def pytest_configure(config):
    config.addinivalue_line("markers", "covers(*rows): rows of Tests/fidelity.yaml that the test asserts")
    config.addinivalue_line("markers", "full: too dear for each change; `make test-full` runs it")
    config.pluginmanager.register(CostsPlugin())


def pytest_collection_modifyitems(items):
    """Starts the files that take longest first, so that no worker has a long file left at the end."""
    durations = ROOT / "Tests/durations.json"
    seconds = json.loads(durations.read_text()) if durations.exists() else {}
    items.sort(key=lambda item: -seconds.get(item.path.stem, 0))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The server that most tests share: the defaults, with short waits."""
    folder = tmp_path_factory.mktemp("server")
    with running(folder, "--ephemeral", "--long-poll", "3s", "--object-wait", "1s", *TLS) as server:
        yield server


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return (DEMO / "consultation.txt").read_text().splitlines()


@pytest.fixture(scope="session")
def spoken(sentences):
    """The samples of the whole consultation."""
    return speech.consultation(sentences)


@pytest.fixture(scope="session")
def chunks(spoken, tmp_path_factory):
    """The consultation as the iOS SDK cuts and encodes it."""
    return speech.chunks(spoken, tmp_path_factory.mktemp("chunks"))


@pytest.fixture(scope="module")
def ambient(tmp_path_factory):
    """A server that skips no ambient session for being short."""
    flags = ("--ephemeral", "--suki-shortest", "0s")
    with running(tmp_path_factory.mktemp("ambient"), *flags) as server:
        yield server


@pytest.fixture(scope="module")
def browser(server, tmp_path_factory):
    """Starts Chromium. Gives a function that connects to a DevTools target by its path, and the path of the browser's target."""
    folder = tmp_path_factory.mktemp("browser")
    trusting = trusting_browser(server, folder)
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


@pytest.fixture(scope="module")
def omi(tmp_path_factory):
    """A server that ends conversations after 2 s of silence, and sockets after 4 s without a message."""
    with running(tmp_path_factory.mktemp("omi"), *FLAGS) as server:
        yield server


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
