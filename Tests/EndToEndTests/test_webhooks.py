"""Webhooks notify receivers: signed, at least once, in order per session. test_crashes.py has kills meanwhile."""

import collections
import contextlib
import re
import signal
import socket
import stat
import subprocess
import sys

import pytest
import requests
from emulator import BINARY, PATIENCE, PUBLIC, ROOT, running, wait_until
from webhooks import FAST, KEY, SUBSCRIPTIONS, WHOLE, Consultant, Receiver, admin, settle


@pytest.mark.covers("C-112")
def test_reliable_and_failing_receivers_get_every_event_in_order(tmp_path):
    tempers = ["good", "flaky", "vanishing", "moved", "stuck"]
    with Receiver() as receiver, running(tmp_path, "--ephemeral", *FAST) as server:
        client = Consultant(server)
        hooks = {temper: client.register(f"{receiver.url}/{temper}") for temper in tempers}
        subscription = {"endpoint": f"{receiver.url}/connect", "event_names": ["v2rx.completed"], "signing_key": KEY}
        client.post(SUBSCRIPTIONS, subscription)
        # A port at which nobody listens any more.
        with Receiver() as gone:
            hooks["gone"] = client.register(f"{gone.url}/gone")
        names = [f"visit-{number}" for number in range(9)] + ["münchen-🩺"]
        for name in names:
            client.begin(name)
        for name in names:
            client.end(name)
        whole = {(name, event) for name in names for event in WHOLE}
        # Nobody waits for the one that is stuck, and it hears no more than a few at a time meanwhile.
        for temper in ("good", "flaky", "vanishing"):
            wait_until(lambda: set(receiver.heard[f"/{temper}"]) == whole, f"/{temper} hears everything")
        wait_until(lambda: len(receiver.heard["/connect"]) == len(names), "/connect hears everything")
        assert 0 < len(receiver.heard["/stuck"]) <= 8
        receiver.released.set()
        settle(server)
        assert set(receiver.heard["/stuck"]) == whole
        assert sorted(receiver.heard["/connect"]) == sorted((name, "v2rx.completed") for name in names)
        # Once each where each was answered, and of one session one after the other.
        for temper, times in [("good", 1), ("stuck", 1), ("flaky", 2), ("vanishing", 2)]:
            for name in names:
                mine = [event for session, event in receiver.heard[f"/{temper}"] if session == name]
                assert mine == [event for event in WHOLE for _ in range(times)], (temper, name)
        # A redirection is no answer, and what has failed is kept.
        failed = admin(server, "deliveries?state=failed&limit=1000")["deliveries"]
        assert collections.Counter(each["webhook_id"] for each in failed) == {
            hooks["moved"]: len(whole), hooks["gone"]: len(whole)
        }
        assert {each["problem"] for each in failed} == {
            "answered 302, which is not followed", "nobody answers there, or not in time"
        }
        assert {each["attempts"] for each in failed} == {7}
        text = requests.get(f"{server.base_url}/metrics").text
        assert f'scribe_webhook_deliveries_total{{style="alliance",outcome="failed"}} {2 * len(whole)}' in text
        assert KEY not in server.log and "visit-1" not in "".join(
            line for line in server.log.splitlines() if "delivery" in line)


def test_the_webhooks_verbs_use_the_operator_api_with_its_token(tmp_path):
    def run(verb, *arguments):
        return subprocess.run(
            [BINARY, "webhooks", verb, "--url", server.base_url, *arguments], capture_output=True, text=True,
            cwd=tmp_path, timeout=PATIENCE)

    strict = (
        "--host", "0.0.0.0", "--auth", "strict", "--demo-seed", "--data-dir", "data", "--outbound-allow", "127.0.0.0/8",
        "--webhook-pauses", "")
    with Receiver() as receiver, running(tmp_path, *strict) as server:
        token = tmp_path / "data/admin-token"
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        assert requests.get(f"{server.base_url}/__admin/info").status_code == 401
        refused = run("list")
        assert refused.returncode == 1 and "admin token" in refused.stderr
        here = ("--data-dir", "data")
        assert run("list", *here).stdout == "no webhooks are registered\n"
        client = Consultant(server)
        good = client.register(f"{receiver.url}/good", "completed")
        moved = client.register(f"{receiver.url}/moved")
        listed = run("list", *here).stdout.splitlines()
        assert len(listed) == 2 and f"{receiver.url}/good" in listed[0] and "session.completed" in listed[0]
        assert KEY not in run("list", "--json", "--deliveries", *here).stdout
        heard = run("test", good, *here)
        assert heard.returncode == 0 and "delivered" in heard.stdout, heard.stderr
        [(session, event)] = receiver.heard["/good"]
        assert session.startswith("test-") and event == "session.completed"
        unheard = run("test", moved, "--admin-token", token.read_text())
        assert unheard.returncode == 1 and "answered 302" in unheard.stdout
        assert "answered 302" in run("list", "--state", "failed", *here).stdout
        assert run("replay", *here).stdout == "replayed: 1\n"
        wait_until(lambda: len(receiver.heard["/moved"]) == 2, "it is told again")
        settle(server)
        number = run("list", "--state", "delivered", *here).stdout.split()[0]
        assert run("replay", number, *here).returncode == 0
        wait_until(lambda: len(receiver.heard["/good"]) == 2, "it is told again")
        assert run("test", "99", *here).returncode == 1
        assert run("list", "--state", "lost", *here).returncode != 0
    unreachable = subprocess.run(
        [BINARY, "webhooks", "list", "--url", server.base_url], capture_output=True, text=True, timeout=PATIENCE)
    assert unreachable.returncode == 3 and "no server answers" in unreachable.stderr


def test_a_server_on_all_interfaces_sends_no_webhook_to_private_addresses(served):
    server = served(*PUBLIC)
    with Receiver() as receiver:
        client = Consultant(server)
        for url in (
            receiver.url, "http://localhost:8080/", "http://10.0.0.1/", "http://[::1]:8080/", "http://2130706433/",
        ):
            answer = client.session.post(server.base_url + SUBSCRIPTIONS, json={"endpoint": url})
            assert answer.status_code == 400 and "may not be sent" in answer.json()["error"]["message"], answer.text
        assert not receiver.heard


@pytest.mark.parametrize("language", ["python", "js"])
def test_the_receivers_of_the_recipe_accept_only_valid_signatures(server, tmp_path, language):
    page = (ROOT / "docs/recipes/webhooks.md").read_text()
    code = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)[1]
    key = re.search(r'KEY = b"(\w+)"', page)[1]
    with Receiver() as free:
        port = free.port
    assert "9100" in code
    source = tmp_path / ("receiver.py" if language == "python" else "receiver.mjs")
    source.write_text(code.replace("9100", str(port)))
    process = subprocess.Popen(
        [sys.executable if language == "python" else "node", source], stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: listens(port), "the receiver listens")
        client = Consultant(server)
        for secret in ("of somebody else", key):
            subscription = {"endpoint": f"http://127.0.0.1:{port}/", "signing_key": secret}
            number = client.post(SUBSCRIPTIONS, subscription)["id"]
            delivery = requests.post(f"{server.base_url}/__admin/webhooks/{number}/test").json()["delivery_id"]

            def told() -> dict:
                return admin(server, f"deliveries/{delivery}")

            if secret == key:
                wait_until(lambda: told()["state"] == "delivered", "it is believed")
            else:
                wait_until(lambda: told().get("problem") == "answered 403", "it is not believed")
            client.session.delete(f"{server.base_url}{SUBSCRIPTIONS}/{number}").raise_for_status()
    finally:
        process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=PATIENCE)[0]
    assert "not genuine" in output and '"event":"v2rx.completed"' in output


def listens(port: int) -> bool:
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
