"""The console in Chromium: four views and one act. `make console-test` has the rest."""

import pytest
import requests
from console import chromium
from emulator import PATIENCE, SHORT, wait_until

import speech
from spoken import consultation

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script> O\'Neil & Søn'
#: A character that joins its neighbour, which escapers by characters do not see.
JOINED = '\u0600<img src=x onerror=document.title=1 \u0600><\u0301script>document.title=1</script \u0600>'


@pytest.fixture(scope="module")
def server(served):
    server = served(*SHORT)
    # The list shows what the tests of this file record.
    requests.post(f"{server.base_url}/__admin/reset", timeout=PATIENCE).raise_for_status()
    return server


@pytest.fixture(scope="module")
def visited(server, sentences, tmp_path_factory):
    """The server, with a transaction that has its note."""
    chunks = speech.chunks(consultation(sentences[:2]), tmp_path_factory.mktemp("visited"))
    client = server.client()
    transaction = client.transaction("i-console")
    transaction.init(patient_details={"username": HOSTILE, "visit_id": JOINED})
    for path, start, end in chunks:
        transaction.upload(client.s3(), path, start, end)
    transaction.stop()
    transaction.commit()
    wait_until(lambda: transaction.poll().status_code != 202, "it has its note")
    return server


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.mark.parametrize("path, words", [
    ("", ["Consultations", "O'Neil & Søn", "Done"]),
    ("/consultations/b-demo/i-console",
     ["O'Neil & Søn", "Timeline", "fever", "R4 document", "initTransaction", "1.m4a"]),
    ("/requests", ["/voice/api/v2/transaction/commit/i-console"]),
    ("/bench", ["Faults", "Snapshots", "Namespaces"]),
])
def test_a_view_shows_its_expected_words_and_axe_finds_no_problem(visited, browser, path, words):
    window = browser.window(f"{visited.base_url}/__console{path}")
    for word in words:
        assert word in window.text(), window.text()
    assert window.run("document.title") != "1", "what a client sent is no markup"
    for width, scheme in ((1280, "light"), (390, "dark")):
        window.look(width, scheme=scheme)
        assert window.violations() == []
        assert window.overflow() <= 0


def test_a_switch_makes_uploads_fail_and_the_strip_brings_back_what_is_normal(visited, browser):
    def faults() -> list[str]:
        rules = requests.get(f"{visited.base_url}/__admin/faults", timeout=PATIENCE).json()["faults"]
        return [rule["id"] for rule in rules if rule["is_on"]]

    window = browser.window(f"{visited.base_url}/__console/bench")
    window.click("#console-uploads")
    wait_until(lambda: faults() == ["console-uploads"], "the fault is on")
    window.until("document.querySelector('#console-uploads').checked", "the page shows it")
    window.open(f"{visited.base_url}/__console")
    assert "1 fault is on" in window.text()
    window.click(".strip [data-acts]")
    wait_until(lambda: faults() == [], "the fault is off")
