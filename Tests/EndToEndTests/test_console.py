"""The console in Chromium: four views and one act. `make console-test` has the rest."""

import subprocess

import pytest
import requests
from console import chromium
from emulator import PATIENCE, SHORT, wait_until
from webhooks import Consultant, Receiver

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
    templates = [{"template_id": each} for each in ("soap", "eka_emr_template", "transcript_template")]
    transaction.init(
        patient_details={"username": HOSTILE, "visit_id": JOINED}, output_format_template=templates)
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
     ["O'Neil & Søn", "Timeline", "fever", "SOAP Note", "FHIR", "initTransaction", "1.m4a"]),
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


def test_notes_are_shown_as_sections_with_their_raw_text_and_fhir_in_tabs(visited, browser):
    window = browser.window(f"{visited.base_url}/__console/consultations/b-demo/i-console")
    results = window.text("#results")
    assert "Subjective" in results and "Medications" not in results.split("SOAP Note")[0], results
    assert '{"title"' not in results and '"prescription"' not in results, "raw JSON is in a tab of its own"
    titles = window.run("[...document.querySelectorAll('#results h2')].map(one => one.innerText)")
    assert titles.count("Transcript") == 1 and len(titles) == 3, titles
    soap = "[...document.querySelectorAll('.doc')].find(one => one.innerText.startsWith('SOAP Note'))"
    window.run(f"{soap}.querySelector('[data-tab=raw]').click()")
    assert '"title": "Subjective"' in window.run(f"{soap}.innerText")
    # The chosen tab outlives a change of the page.
    window.run("window.before = document.querySelector('.doc')")
    requests.post(
        f"{visited.base_url}/__admin/faults", json={"path": "/x", "status": 500}, timeout=PATIENCE).raise_for_status()
    window.until("document.querySelector('.strip [data-acts]') !== null", "the strip comes")
    window.click(".strip [data-acts]")
    window.until("window.before !== document.querySelector('.doc')", "the page is read again")
    assert '"title": "Subjective"' in window.run(f"{soap}.innerText")
    window.run(f"{soap}.querySelector('[data-tab=fhir]').click()")
    assert '"resourceType": "Bundle"' in window.run(f"{soap}.innerText")
    window.key("ArrowLeft", 37)
    assert window.run(f"{soap}.querySelector('[aria-selected=true]').innerText") == "Raw"
    assert window.violations() == []


def test_the_command_of_a_delivery_posts_the_same_signed_message_to_its_receiver(server, browser):
    # The receiver keeps the messages whose signature is right.
    with Receiver() as receiver:
        client = Consultant(server)
        hook = client.register(f"{receiver.url}/good", "completed")
        client.begin("i-shell")
        client.end("i-shell")
        event = ("i-shell", "session.completed")
        wait_until(lambda: receiver.heard["/good"] == [event], "the receiver has it")
        window = browser.window(f"{server.base_url}/__console/requests?only=webhooks")
        assert f"127.0.0.1:{receiver.port}/good" in window.text()
        window.open(window.run("document.querySelector('.jr a.rl').href"))
        assert f"127.0.0.1:{receiver.port}/good" in window.text(".chead")
        subprocess.run(["bash", "-c", window.text("[aria-labelledby=h-cu] pre")], check=True, timeout=PATIENCE)
        wait_until(lambda: receiver.heard["/good"] == [event] * 2, "the receiver has it twice")
        window.open(f"{server.base_url}/__console/webhooks")
        assert "1 of 1 delivered" in window.text() and window.violations() == []
        client.unregister(hook)


def test_acts_ask_in_a_dialog_of_the_page_and_fail_asks_for_a_code(server, browser):
    server.client().transaction("i-asked").init()
    window = browser.window(f"{server.base_url}/__console/consultations/b-demo/i-asked")
    window.run("[...document.querySelectorAll('.acts .btn')].find(one => one.innerText.startsWith('Delete')).click()")
    window.until("document.querySelector('#ask').open", "the page asks")
    assert "Delete this consultation" in window.text("#ask") and window.violations() == []
    window.call("Page.bringToFront")
    window.key("Escape", 27)
    window.until("!document.querySelector('#ask').open", "the answer is no")
    window.run("[...document.querySelectorAll('.acts .btn')].find(one => one.innerText.startsWith('Fail')).click()")
    window.until("document.querySelector('#ask').open", "the page asks")
    window.run("document.querySelector('#ask select').value = 'no_speech'")
    window.look(390, scheme="dark")
    assert window.violations() == [] and window.overflow() <= 0
    window.click("[data-answer=yes]")
    window.until("document.querySelector('.chead')?.innerText.includes('Failed as asked')", "it has failed")
    assert "no_speech, by an operator" in window.text("#timeline")
