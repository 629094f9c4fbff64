"""The console in Chromium, whole: `make console-test`. SCREENSHOTS names a folder for pictures of each view."""

import array
import os
import pathlib
import time

import pytest
import requests
from chromium import serving
from console import chromium
from emulator import PATIENCE, ROOT, running, wait_until
from session_client import SessionClient
from test_console import HOSTILE

import speech

PICTURES = os.environ.get("SCREENSHOTS")
#: The picture in the README; WRITE_PICTURE=1 takes it anew.
README_PICTURE = ROOT / "docs/console.png"
VIEWS = {
    "list": "", "failed": "?state=failed", "requests": "/requests", "request": "/requests/2", "webhooks": "/webhooks",
    "bench": "/bench",
    "try": "/try", "connect": "/connect", "templates": "/templates", "settings": "/settings", "missing": "/nonesuch",
    "done": "/consultations/b-demo/i-done", "hostile": "/consultations/b-demo/i-hostile",
    "failure": "/consultations/b-demo/i-failed",
    "refused": "/consultations/b-demo/i-refused", "empty": "?namespace=empty",
}


def wave(path: pathlib.Path, samples: array.array):
    import wave as file

    with file.open(str(path), "wb") as out:
        out.setparams((1, 2, 16000, 0, "NONE", ""))
        out.writeframes(samples.tobytes())
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(
        tmp_path_factory.mktemp("console"), "--ephemeral", "--long-poll", "1s", "--object-wait", "300ms"
    ) as server:
        yield server


@pytest.fixture(scope="module")
def chunks(sentences, tmp_path_factory):
    return speech.chunks(speech.consultation(sentences[:4]), tmp_path_factory.mktemp("chunks"))


def record(client, identifier: str, name: str, chunks, visit: str = "v-1"):
    transaction = client.transaction(identifier)
    assert transaction.init(patient_details={"username": name, "visit_id": visit}).status_code == 201
    s3 = client.s3()
    for path, start, end in chunks:
        transaction.upload(s3, path, start, end)
    transaction.stop()
    transaction.commit()
    deadline = time.monotonic() + PATIENCE
    while transaction.poll().status_code == 202 and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def visited(server, chunks):
    client, admin = server.client(), f"{server.base_url}/__admin"
    token = SessionClient(server.base_url).session.headers["Authorization"]
    hook = {"url": "inbox", "events": ["session.completed", "session.failed"]}
    requests.post(
        f"{server.base_url}/voice/v1/webhooks", json=hook, headers={"Authorization": token},
        timeout=PATIENCE).raise_for_status()
    record(client, "i-done", "Meera Kulkarni", chunks)
    record(client, "i-hostile", HOSTILE, chunks)
    record(client, "i-failed", "Samuel Okafor", [])
    requests.post(
        f"{admin}/faults", json={"id": "flaky", "operation": "PutObject", "code": "SlowDown", "every": 2},
        timeout=PATIENCE)
    record(client, "i-refused", "Farid Rahimi", chunks)
    requests.post(f"{admin}/namespaces", json={"name": "empty"}, timeout=PATIENCE).raise_for_status()
    requests.put(f"{admin}/snapshots/before-demo", timeout=PATIENCE).raise_for_status()
    return server


@pytest.fixture(scope="module")
def chromium_process(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("chromium")
    spoken = wave(folder / "spoken.wav", speech.consultation(sentences[:2]))
    with chromium(folder, f"--use-file-for-fake-audio-capture={spoken}") as browser:
        yield browser


@pytest.fixture
def browser(chromium_process):
    yield chromium_process
    chromium_process.close_windows()


@pytest.mark.parametrize("name", VIEWS)
def test_axe_finds_nothing_in_any_view_at_any_width(visited, browser, name):
    window = browser.window(f"{visited.base_url}/__console{VIEWS[name]}")
    time.sleep(0.3)
    for width in (1280, 1024, 820, 390, 320):
        for scheme in ("light", "dark"):
            window.look(width, scheme=scheme)
            assert window.overflow() <= 0, width
            if width in (1280, 390):
                assert window.violations() == [], (width, scheme)
                if PICTURES:
                    window.shot(pathlib.Path(PICTURES) / f"{name}-{width}-{scheme}.png")
    assert window.run("document.title") != "1"
    assert window.run("document.querySelectorAll('main script:not([src]), [style], [onclick]').length") == 0


def test_a_recording_from_the_microphone_becomes_a_note(server, browser):
    window = browser.window(f"{server.base_url}/__console/try")
    window.click("[data-record]")
    window.until("document.querySelector('[data-words]').innerText.length > 40", "words are heard")
    time.sleep(11)
    window.click("[data-record]")
    window.until("/completed|partial/.test(document.querySelector('[data-note-state]').innerText)", "there is a note")
    assert "fever" in window.text("[data-note]"), window.text()
    steps = window.text("[data-steps]")
    assert "chunk_1.wav" in steps and "End the session" in steps
    window.open(window.run("document.querySelector('[data-note] a').href"))
    assert "Timeline" in window.text() and "chunk_1.wav" in window.text()


def test_an_uploaded_file_becomes_a_note(server, browser, sentences, tmp_path):
    file = wave(tmp_path / "consultation.wav", speech.consultation(sentences[:3]))
    window = browser.window(f"{server.base_url}/__console/try")
    root = window.call("DOM.getDocument")["root"]["nodeId"]
    field = window.call("DOM.querySelector", nodeId=root, selector="[data-file]")["nodeId"]
    window.call("DOM.setFileInputFiles", nodeId=field, files=[str(file)])
    window.until("/completed|partial/.test(document.querySelector('[data-note-state]').innerText)", "there is a note")
    assert window.text("[data-note] h3"), window.text()


def test_a_template_is_made_tried_and_archived(server, browser):
    window = browser.window(f"{server.base_url}/__console/templates")
    window.click("[data-write]")
    window.until("document.querySelector('[data-written] q') !== null", "the note is written")
    assert "fever for three days" in window.text("[data-written]")
    window.run("document.querySelector('[data-own=\"\"] [data-title]').value = 'Short & plain'")
    window.click("[data-own=''] [value=plan]")
    window.click("[data-own=''] [data-save]")
    window.until("document.querySelectorAll('[data-own]').length === 2", "it is listed")
    assert window.run("document.querySelector('[data-own] [value=plan]').checked")
    window.click("[data-archive]")
    window.click("[data-answer=yes]")
    window.until("document.querySelectorAll('[data-own]').length === 1", "it is archived")


def test_the_console_plays_a_recording(visited, browser):
    window = browser.window(f"{visited.base_url}/__console/consultations/b-demo/i-done")
    # Debian's Chromium decodes AAC.
    window.until("document.querySelector('.wave path') !== null", "a wave is drawn")
    window.click("[data-play]")
    window.until("document.querySelector('[data-play].on') !== null", "it plays")


def test_a_hundred_consultations_arrive_while_the_page_is_open(server, browser):
    window = browser.window(f"{server.base_url}/__console?kind=transaction")
    window.run("document.activeElement.blur()")
    client = server.client()
    for number in range(100):
        client.transaction(f"i-many-{number}").init(patient_details={"username": f"Arrival {number}"})
    window.until("document.querySelector('a.pt').innerText === 'Arrival 99'", "the newest one is shown")
    assert window.run("document.querySelectorAll('a.pt').length") == 50
    window.run("document.querySelector('[data-pause]').click()")
    client.transaction("i-paused").init(patient_details={"username": "While paused"})
    window.until("!document.querySelector('[data-news]').hidden", "the page says that there is more")
    assert "While paused" not in window.text()
    window.click("[data-news]")
    window.until("document.querySelector('a.pt').innerText === 'While paused'", "and shows it when asked")


def test_a_search_keeps_the_patients_name_out_of_urls_and_logs(visited, browser):
    window = browser.window(f"{visited.base_url}/__console")
    window.key("/", 191, "/")
    assert window.run("document.activeElement.matches('[data-search]')")
    for letter in "meera":
        window.key(letter, ord(letter.upper()), letter)
    window.until(
        "[...document.querySelectorAll('a.pt')].every(a => a.innerText === 'Meera Kulkarni')", "the list is searched")
    assert "meera" not in window.run("location.href").lower()
    assert all("meera" not in line.lower() for line in visited.log.splitlines())


def test_seven_tabs_share_a_stream_and_all_show_new_visits(server, browser):
    tabs = [browser.window(f"{server.base_url}/__console") for _ in range(7)]
    server.client().transaction("i-seven").init(patient_details={"username": "Seventh"})
    for tab in tabs:
        tab.call("Page.bringToFront")
        tab.until("document.querySelector('main').innerText.includes('Seventh')", "the tab shows it")


def test_the_keyboard_reaches_every_control(visited, browser):
    window = browser.window(f"{visited.base_url}/__console/bench")
    window.call("Page.bringToFront")
    reached = set()
    for _ in range(80):
        window.key("Tab", 9)
        reached.add(window.run(
            "document.activeElement.id || document.activeElement.innerText || document.activeElement.tagName"))
        if window.run("document.activeElement.id") == "console-webhooks":
            window.key(" ", 32, " ")
            break
    assert "To the content" in reached
    admin = f"{visited.base_url}/__admin/faults"
    wait_until(lambda: "console-webhooks" in requests.get(admin, timeout=PATIENCE).text, "the switch is on")
    requests.delete(f"{admin}/console-webhooks", timeout=PATIENCE).raise_for_status()


def test_a_page_of_another_origin_can_neither_read_nor_control_the_console(visited, browser):
    console = f"{visited.base_url}/__console"
    browser.window(console)
    with serving({"/": b"<!doctype html><title>elsewhere</title>"}) as (port, _):
        # The same host on another port: cookies do not tell ports apart.
        window = browser.window(f"http://127.0.0.1:{port}/")
        before = requests.get(f"{visited.base_url}/__admin/faults", timeout=PATIENCE).text
        tries = window.run(f"""(async () => {{
            const tried = [];
            const attempt = async (name, work) => tried.push([name, await work().catch(() => 'refused')]);
            const url = {console!r};
            await attempt('read', async () => (await (await fetch(url, {{ credentials: 'include' }})).text()).length);
            await attempt('opaque', async () => (await fetch(url, {{ mode: 'no-cors', credentials: 'include' }})).type);
            await attempt('act', async () => (await fetch(url + '/admin/faults', {{
                method: 'POST', mode: 'no-cors', credentials: 'include', body: '{{"status":500}}' }})).type);
            await attempt('script', () => new Promise((done, fail) => {{
                const one = document.createElement('script');
                one.src = url + '/app.js';
                one.onload = () => done('loaded');
                one.onerror = fail;
                document.head.append(one);
            }}));
            await attempt('frame', () => new Promise(done => {{
                const one = document.createElement('iframe');
                one.src = url;
                one.onload = () => done(one.contentDocument ? 'readable' : 'refused');
                document.body.append(one);
            }}));
            return tried;
        }})()""")
        assert {name: value for name, value in tries} == {
            "read": "refused", "opaque": "refused", "act": "refused", "script": "refused", "frame": "refused"}, tries
        assert requests.get(f"{visited.base_url}/__admin/faults", timeout=PATIENCE).text == before
        # A link may lead to the console, and shows it to the person alone.
        window.run(f"location.href = {console!r}")
        window.until_shown("Consultations", "the link led there")


def test_a_token_opens_the_console_once_per_browser(tmp_path):
    flags = ("--ephemeral", "--auth", "strict", "--admin-token", "operators-token", "--demo-seed")
    with running(tmp_path, *flags) as server, chromium(tmp_path) as browser:
        window = browser.window(f"{server.base_url}/__console")
        assert "Open the console" in window.text() and window.violations() == []
        window.run("document.querySelector('#tk').value = 'wrong'")
        window.click("[data-login] button")
        window.until("!document.querySelector('.err').hidden", "a wrong token is refused")
        window.run("document.querySelector('#tk').value = 'operators-token'")
        window.click("[data-login] button")
        window.until_shown("No consultation in default yet", "the right one opens it")
        other = browser.window(f"{server.base_url}/__console/settings")
        assert (
            "admin-token" in other.text()
            and "operators-token" not in other.run("document.documentElement.innerHTML"))
        assert "operators-token" not in server.log
        other.click("[data-logout]")
        other.until_shown("Open the console", "it is closed")


def test_the_picture_in_the_readme_shows_the_current_list(browser, chunks, tmp_path):
    with running(tmp_path, "--ephemeral", "--long-poll", "1s", "--object-wait", "300ms") as server:
        client = server.client()
        record(client, "i-1", "Joseph Adeyemi", chunks, "v-2281")
        record(client, "i-2", "Lakshmi Narayanan", chunks, "v-2286")
        record(client, "i-3", "Ravi Menon", chunks, "fixture:no-speech")
        record(client, "i-4", "Samuel Okafor", [], "v-2289")
        cancelled = client.transaction("i-5")
        cancelled.init(patient_details={"username": "Ingrid Solheim", "visit_id": "v-2290"})
        requests.post(f"{server.base_url}/__admin/transactions/i-5/cancel", timeout=PATIENCE).raise_for_status()
        recording = client.transaction("i-6")
        recording.init(patient_details={"username": "Anjali Deshpande", "visit_id": "v-2291"})
        for path, start, end in chunks[:1]:
            recording.upload(client.s3(), path, start, end)
        window = browser.window(f"{server.base_url}/__console")
        window.look(1280, 640)
        names = window.run("[...document.querySelectorAll('a.pt')].map(a => a.innerText)")
        words = window.run("[...document.querySelectorAll('td .st')].map(one => one.innerText)")
        assert names[0] == "Anjali Deshpande" and len(names) == 6
        assert words == ["Recording", "Cancelled", "Failed", "Failed as asked", "Done", "Done"]
        if os.environ.get("WRITE_PICTURE"):
            window.shot(README_PICTURE)
    assert README_PICTURE.read_bytes().startswith(b"\x89PNG") and README_PICTURE.stat().st_size < 300_000


def test_a_page_reconnects_after_a_restart_of_the_server(browser, tmp_path):
    flags = ("--data-dir", str(tmp_path / "data"))
    with running(tmp_path, *flags) as server:
        port = server.port
        server.client().transaction("i-before").init(patient_details={"username": "Before"})
        window = browser.window(f"{server.base_url}/__console")
        assert "Before" in window.text()
    window.until("!document.querySelector('#lost').hidden", "the page says that it is not live")
    colours = window.run(
        "['.live', '.led'].map(name => getComputedStyle(document.querySelector(name), "
        "name === '.live' ? '::before' : null).backgroundColor)")
    warning = window.run("getComputedStyle(document.querySelector('.live')).color")
    assert colours == [warning, warning], "both dots have the colour of the words"
    with running(tmp_path, *flags, "--port", str(port)) as server:
        server.client().transaction("i-after").init(patient_details={"username": "After the restart"})
        window.until_shown("After the restart", "the page is live again")
        window.until("document.querySelector('#lost').hidden", "it says so")


def test_switching_a_fault_off_hides_the_strip_and_keeps_its_command(server, browser):
    window = browser.window(f"{server.base_url}/__console/bench")
    window.click("#console-sockets")
    window.until("document.querySelector('#console-sockets').checked", "it is on")
    window.until(
        "document.querySelector('[data-twin-out]').innerText.includes('fault add id=console-sockets')",
        "its command is shown")
    window.until("/[0-9] on/.test(document.querySelector('.nav').innerText)", "the navigation says so")
    window.open(f"{server.base_url}/__console/connect")
    window.click(".strip [data-acts]")
    window.until("document.querySelector('[data-live=notices]').innerText === ''", "the strip goes")


def test_a_click_on_a_state_keeps_the_search_text(visited, browser):
    window = browser.window(f"{visited.base_url}/__console")
    window.run(
        "(search => { search.focus(); search.value = 'meera'; "
        "search.dispatchEvent(new Event('input', { bubbles: true })); })(document.querySelector('[data-search]'))")
    window.until("document.querySelectorAll('a.pt').length === 1", "the list is searched")
    window.run(
        "(link => { link.focus(); link.click(); })"
        "([...document.querySelectorAll('.seg a')].find(one => one.innerText === 'Done'))")
    window.until(
        "location.search.includes('state=done') && document.querySelector('[data-search]')?.value === 'meera'",
        "the text is there again")
    window.until("document.querySelectorAll('a.pt').length === 1", "and the list is searched")


def test_an_open_page_shows_changes_of_the_command_line(server, browser):
    admin = f"{server.base_url}/__admin"
    requests.delete(f"{admin}/faults", timeout=PATIENCE).raise_for_status()
    window = browser.window(f"{server.base_url}/__console/connect")
    requests.post(
        f"{admin}/faults", json={"id": "by-hand", "path": "/x", "status": 500}, timeout=PATIENCE).raise_for_status()
    window.until(
        "document.querySelector('[data-live=notices]').innerText.includes('1 fault is on')", "the strip appears")
    requests.delete(f"{admin}/faults", timeout=PATIENCE).raise_for_status()
    window.until("document.querySelector('[data-live=notices]').innerText === ''", "and goes")
    window.open(f"{server.base_url}/__console/bench")
    requests.put(f"{admin}/clock", json={"mode": "frozen"}, timeout=PATIENCE).raise_for_status()
    window.until("document.querySelector('#clock').innerText.includes('Go on')", "the clock is frozen")
    requests.put(f"{admin}/clock", json={"mode": "system"}, timeout=PATIENCE).raise_for_status()
    window.until("document.querySelector('#clock').innerText.includes('Freeze')", "and runs")
    requests.post(f"{admin}/namespaces", json={"name": "by-hand"}, timeout=PATIENCE).raise_for_status()
    window.until("document.querySelector('#namespaces').innerText.includes('by-hand')", "the namespace is there")


def test_playback_continues_while_another_client_records(visited, browser):
    window = browser.window(f"{visited.base_url}/__console/consultations/b-demo/i-done")
    window.until("document.querySelector('.wave path') !== null", "a wave is drawn")
    window.run("window.track = document.querySelector('[data-play]')")
    visited.client().transaction("i-meanwhile").init()
    time.sleep(1)
    assert window.run("window.track === document.querySelector('[data-play]')"), "the part was not made anew"
