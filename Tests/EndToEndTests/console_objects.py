"""Single objects of the console in Chromium: player, request, socket, namespace, receiver. `make console-test`."""

import re

import requests
from console_visits import browser, chromium_process, chunks, server, visited  # noqa: F401
from emulator import PATIENCE, wait_until
from session_client import SessionClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

DONE = "/consultations/b-demo/i-done"


def test_the_player_seeks_by_click_and_key_and_lights_its_position(visited, browser):  # noqa: F811
    window = browser.window(f"{visited.base_url}/__console{DONE}")
    window.until("document.querySelector('.wave path') !== null", "a wave is drawn")
    window.run(
        "(wave => { const box = wave.getBoundingClientRect(); wave.dispatchEvent(new MouseEvent('click', "
        "{ bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 4 })); })"
        "(document.querySelector('.wave'))")
    window.until("/^0:0[1-9] of /.test(document.querySelector('[data-position]').innerText)", "it plays from there")
    window.until("document.querySelector('[data-play] .i-pause') !== null", "the button pauses")
    window.run("document.querySelector('[data-play]').click()")
    window.until("document.querySelector('[data-play] .i-play') !== null", "it is paused")
    window.run("document.querySelector('.wave').focus()")
    window.key("Home", 36)
    window.until("document.querySelector('.wave').getAttribute('aria-valuenow') === '0'", "the key seeks")
    assert window.run("document.querySelector('.wave .pd').getAttribute('d').length") < 60
    link = window.run("document.querySelector('a[download]').href")
    assert link.endswith("?download")
    assert window.violations() == []


def test_a_file_that_no_browser_plays_says_why(server, browser, tmp_path):  # noqa: F811
    client = server.client()
    transaction = client.transaction("i-raw")
    transaction.init(patient_details={"username": "Raw"})
    raw = tmp_path / "1.raw"
    raw.write_bytes(b"\x01\x02" * 4000)
    transaction.upload(client.s3(), raw)
    window = browser.window(f"{server.base_url}/__console/consultations/b-demo/i-raw")
    window.until("document.querySelector('.cannot')?.innerText.includes('not in a known audio format')", "it says why")
    assert window.run("document.querySelector('[data-play]').disabled")


def test_the_timeline_has_a_bar_for_each_line_and_words_stand_beside_it(visited, browser):  # noqa: F811
    window = browser.window(f"{visited.base_url}/__console{DONE}")
    window.look(1440)
    lines = "document.querySelectorAll('.ev.only > li').length"
    assert window.run(f"{lines} > 5 && {lines} === document.querySelectorAll('.ev.only > li > svg.span rect').length")
    assert " until the commit, " in window.text("#timeline")
    timeline, words = (
        window.run(f"document.querySelector('{name}').getBoundingClientRect().toJSON()")
        for name in ("#timeline", "#words"))
    assert words["left"] >= timeline["right"] - 1 and words["top"] < timeline["bottom"]
    window.look(1100)
    assert window.run(
        "document.querySelector('#audio').getBoundingClientRect().top > "
        "document.querySelector('#timeline').getBoundingClientRect().bottom - 1")


def test_a_socket_shows_its_transcript_and_its_messages_unfold(server, browser):  # noqa: F811
    token = SessionClient(server.base_url).session.headers["Authorization"]
    url = f"ws://127.0.0.1:{server.port}/v1/listen?encoding=linear16&sample_rate=16000"
    with connect(url, additional_headers={"Authorization": token}) as socket:
        for number in range(60):
            socket.send(bytes((number * index) % 251 for index in range(3200)))
        socket.send('{"type":"CloseStream"}')
        try:
            while True:
                socket.recv(timeout=PATIENCE)
        except ConnectionClosed:
            pass
    window = browser.window(f"{server.base_url}/__console/requests?only=sockets")
    window.open(window.run("document.querySelector('.jr a.rl').href"))
    assert len(window.text("[aria-labelledby=h-sa] pre")) > 10, window.text()
    counts = re.findall(r"([0-9]+) binary messages?, ", window.text(".frames"))
    assert sum(map(int, counts)) == 60 and len(counts) < 20, window.text(".frames")
    window.run("document.querySelector('.frames summary').click()")
    assert '"channel"' in window.text(".frames details[open] pre") and window.violations() == []


def test_a_namespace_gets_a_name_and_shows_its_secrets_once(server, browser):  # noqa: F811
    window = browser.window(f"{server.base_url}/__console/bench")
    window.click("[data-opens=new-space]")
    window.run("document.querySelector('#new-space [name=name]').value = 'Not a name'")
    window.click("#new-space [data-submit]")
    window.until("document.querySelector('#new-space [data-problem]').innerText.includes('name')", "it is refused")
    assert window.violations() == []
    window.run("document.querySelector('#new-space [name=name]').value = 'by-console'")
    window.click("#new-space [data-submit]")
    window.until("document.querySelector('#space-made').open", "the credentials are shown")
    values = window.run("Object.fromEntries([...document.querySelectorAll('#space-made [data-value]')].map(one => "
                        "[one.dataset.value, one.innerText]))")
    login = requests.post(
        f"{values['url']}/connect-auth/v1/account/login",
        json={"client_id": values["client_id"], "client_secret": values["client_secret"]}, timeout=PATIENCE)
    assert login.status_code == 200 and values["api_key"] and len(values["api_key_hex"]) == 40
    assert window.violations() == []
    window.click("#space-made [data-closes]")
    window.open(f"{server.base_url}/__console/connect?namespace=by-console")
    assert values["client_id"] in window.text() and values["client_secret"] not in window.text()


def test_a_receiver_is_added_paused_and_removed(server, browser):  # noqa: F811
    window = browser.window(f"{server.base_url}/__console/webhooks")
    count = window.run("document.querySelectorAll('[data-live=hooks] .fl li').length")
    window.click("[data-opens=new-hook]")
    window.run("document.querySelector('#new-hook [name=endpoint]').value = 'ftp://nowhere'")
    window.click("#new-hook [data-submit]")
    window.until("document.querySelector('#new-hook [data-problem]').innerText !== ''", "the address is refused")
    assert window.violations() == []
    window.run("document.querySelector('#new-hook [name=endpoint]').value = 'inbox'")
    window.run("document.querySelector('#new-hook [name=style]').value = 'alliance'")
    window.run("document.querySelector('#new-hook [name=events]').value = 'session.completed, session.failed'")
    window.click("#new-hook [data-submit]")
    button = "[...document.querySelectorAll('[data-live=hooks] button')].findLast(one => one.innerText === '{}')"
    window.until(
        f"document.querySelectorAll('[data-live=hooks] .fl li').length === {count + 1}", "the receiver is there")
    window.run(f"{button.format('Pause')}.click()")
    window.until(f"{button.format('Go on')} !== undefined", "it is paused")
    assert "Paused" in window.text("[data-live=hooks]")
    hooks = requests.get(f"{server.base_url}/__admin/webhooks", timeout=PATIENCE).json()["webhooks"]
    assert [hook["paused"] for hook in hooks][-1] is True
    assert hooks[-1]["events"] == ["session.completed", "session.failed"]
    window.run("[...document.querySelectorAll('[aria-label^=\"Remove inbox\"]')].at(-1).click()")
    window.until("document.querySelector('#ask').open", "the page asks")
    window.click("[data-answer=yes]")
    wait_until(
        lambda: len(requests.get(f"{server.base_url}/__admin/webhooks", timeout=PATIENCE).json()["webhooks"])
        == len(hooks) - 1, "it is removed")


def test_what_fails_next_is_found_by_its_name_and_armed(server, browser):  # noqa: F811
    window = browser.window(f"{server.base_url}/__console/bench")
    window.run("(field => { field.value = 'transcr'; field.dispatchEvent(new Event('input')); })"
               "(document.querySelector('[data-fn-find]'))")
    assert window.run("document.querySelector('[data-fn=operation]').value") == "transcription"
    assert "fault next operation=transcription fail=transcription_failed" in window.text("[data-fn-out]")
    window.run("(field => { field.value = 'nonesuch'; field.dispatchEvent(new Event('input')); "
               "field.value = 'transcr'; field.dispatchEvent(new Event('input')); })"
               "(document.querySelector('[data-fn-find]'))")
    assert window.run("!document.querySelector('[data-arm]').hidden")
    window.click("[data-arm]")
    rules = f"{server.base_url}/__admin/faults"
    wait_until(
        lambda: any(
            rule.get("operation") == "transcription"
            for rule in requests.get(rules, timeout=PATIENCE).json()["faults"]),
        "the rule is there")
    requests.delete(rules, timeout=PATIENCE).raise_for_status()


def test_control_k_goes_to_a_consultation_and_a_question_mark_shows_the_keys(visited, browser):  # noqa: F811
    window = browser.window(f"{visited.base_url}/__console/settings")
    window.call("Page.bringToFront")
    window.key("?", 191, "?")
    window.until("document.querySelector('#keys').open", "the keys are shown")
    assert window.violations() == []
    window.key("Escape", 27)
    window.call(
        "Input.dispatchKeyEvent", type="keyDown", key="k", code="KeyK", windowsVirtualKeyCode=75, modifiers=2)
    window.until("document.querySelector('#goto').open", "the dialog opens")
    for letter in "meera":
        window.key(letter, ord(letter.upper()), letter)
    window.until("document.querySelector('#goto-0')?.innerText.includes('Meera Kulkarni')", "she is found")
    assert window.violations() == [] and "meera" not in window.run("location.href").lower()
    window.key("Enter", 13, "\r")
    window.until("location.pathname.endsWith('/consultations/b-demo/i-done')", "her page opens")


def test_a_sample_is_played_on_this_server(server, browser):  # noqa: F811
    window = browser.window(f"{server.base_url}/__console/try#sample")
    window.until("/completed|partial/.test(document.querySelector('[data-note-state]').innerText)", "there is a note")
    assert "Upload 1.ogg, 70 KB" in window.text("[data-steps]") and window.text("[data-note] h3")
    window.run("document.querySelector('[data-fixture]').value = 'no-speech'")
    window.click("[data-sample]")
    window.until("/failed/.test(document.querySelector('[data-note-state]').innerText)", "the fixture decides")
    window.run("document.querySelector('[data-fixture]').value = 'init-refused'")
    window.click("[data-sample]")
    window.until("document.querySelector('[data-steps] .bad') !== null", "the session is refused")
    assert window.text("[data-note]") == "No note yet." and window.text("[data-note-state]") == "after stop"
    assert window.text("[data-words]").startswith("Words appear here")


def test_times_go_on_between_two_reads_and_stand_with_the_clock(server, browser):  # noqa: F811
    clock = f"{server.base_url}/__admin/clock"
    window = browser.window(f"{server.base_url}/__console/bench")
    shown = "document.querySelector('#clock time').innerText"
    begin = window.run(shown)
    window.until(f"{shown} !== {begin!r}", "the clock goes on")
    requests.put(clock, json={"mode": "frozen", "now": "2030-01-01T00:00:00Z"}, timeout=PATIENCE).raise_for_status()
    window.until(f"{shown} === '00:00:00' && !document.querySelector('[data-clock]')", "it stands")
    requests.put(clock, json={"mode": "system"}, timeout=PATIENCE).raise_for_status()


def test_a_namespace_can_be_chosen_as_soon_as_it_is_there(server, browser):  # noqa: F811
    window = browser.window(f"{server.base_url}/__console/webhooks")
    made = requests.post(f"{server.base_url}/__admin/namespaces", json={"name": "late"}, timeout=PATIENCE)
    made.raise_for_status()
    options = "[...document.querySelectorAll('[data-namespace] option')]"
    window.until(f"{options}.some(one => one.value === 'late')", "it is there")
    requests.delete(f"{server.base_url}/__admin/namespaces/late", timeout=PATIENCE).raise_for_status()


def test_an_act_says_what_came_of_it(server, browser):  # noqa: F811
    window = browser.window(f"{server.base_url}/__console/webhooks")
    window.run("document.querySelector('[data-live=replay] button').disabled = false")
    window.click("[data-live=replay] button")
    window.until("document.querySelector('.toast').innerText === 'Messages on their way again: 0'", "none had failed")


def test_times_are_those_of_the_browsers_zone_and_messages_cover_nothing(visited, browser):  # noqa: F811
    window = browser.window()
    window.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    window.open(f"{visited.base_url}/__console/requests")
    exact, shown = window.run("(one => [one.dateTime, one.innerText])(document.querySelector('.jr time'))")
    assert exact.endswith("Z") and exact[11:16] != shown[:5] and exact[17:23] == shown[6:12], (exact, shown)
    assert window.run("document.querySelector('.jr time').title") == exact
    for width in (1280, 390):
        window.look(width)
        window.run("scribe.toast('A message of some length, about an act')")
        covered = window.run(
            "(box => [...document.querySelectorAll('main a, main button, main td, main p, .nav a, .foot *, .ns')]"
            ".filter(one => { const other = one.getBoundingClientRect(); return other.width && other.left < box.right "
            "&& box.left < other.right && other.top < box.bottom && box.top < other.bottom; })"
            ".map(one => one.outerHTML))"
            "(document.querySelector('.toast').getBoundingClientRect())")
        assert covered == [], width


def test_a_change_that_is_undone_at_once_does_not_stay_on_a_page_that_has_just_opened(server, browser):  # noqa: F811
    admin = f"{server.base_url}/__admin/faults"
    notices = "document.querySelector('[data-live=notices]').innerText"
    # What the visited server has on is told, too.
    requests.delete(admin, timeout=PATIENCE).raise_for_status()
    for _ in range(8):
        window = browser.window(f"{server.base_url}/__console/connect")
        requests.post(admin, json={"id": "brief", "path": "/x", "status": 500}, timeout=PATIENCE).raise_for_status()
        window.until(f"{notices}.includes('fault is on')", "the rule is told")
        requests.delete(f"{admin}/brief", timeout=PATIENCE).raise_for_status()
        window.until(f"{notices} === ''", "and its end")
        browser.close_windows()


def test_each_landmark_of_each_page_has_a_name_of_its_own(visited, browser):  # noqa: F811
    window = browser.window()
    pages = ("", "/requests", "/requests/2", DONE, "/webhooks", "/bench", "/try", "/connect", "/templates", "/settings")
    for path in pages:
        window.open(f"{visited.base_url}/__console{path}")
        names = window.run(
            "[...document.querySelectorAll('nav, aside:not([hidden]), [role=search], section')].map(one => one"
            ".getAttribute('aria-label') ?? document.getElementById(one.getAttribute('aria-labelledby'))?.innerText)")
        assert None not in names and len(names) == len(set(names)), (path, names)
