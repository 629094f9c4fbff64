"""Webhooks notify registered receivers: signed, at least once, in order per session."""

import collections
import re
import signal
import stat
import subprocess
import sys
import threading

import pytest
import requests
from emulator import BINARY, PATIENCE, ROOT, Server, running, wait_until
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
        names = [f"visit-{number}" for number in range(19)] + ["münchen-🩺"]
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


@pytest.mark.parametrize("moment", ["before the answer", "after the answer"])
def test_a_kill_between_delivery_and_its_record_sends_the_event_again_and_loses_none(tmp_path, moment):
    with Receiver() as receiver:
        flags = ("--data-dir", "data", *FAST)
        server = Server(tmp_path, *flags)
        client = Consultant(server)
        client.register(f"{receiver.url}/good", "started")
        victim = server.process

        def kill(path, event):
            if event[0] == "visit-5" and victim.poll() is None:
                if moment == "before the answer":
                    victim.kill()
                else:
                    threading.Timer(0.002, victim.kill).start()

        receiver.before_answer = kill
        begun = []
        for number in range(40):
            try:
                client.begin(f"visit-{number}")
                begun.append(f"visit-{number}")
            except (AssertionError, requests.RequestException):
                break
        victim.wait(PATIENCE)
    # Another one at the same address, so that what each server has sent is told apart.
    with Receiver(receiver.port) as other:
        with running(tmp_path, *flags) as again:
            settle(again)
        heard_before, heard_after = receiver.heard["/good"], other.heard["/good"]
        # What the killed server was about to answer may be there as well.
        assert set(begun) <= {name for name, _ in heard_before + heard_after}
        for heard in (heard_before, heard_after):
            assert len(set(heard)) == len(heard), "nothing twice without a kill between"
        if moment == "before the answer":
            assert ("visit-5", "session.started") in heard_after


def test_a_kill_at_any_moment_loses_no_event(tmp_path):
    flags = ("--data-dir", "data", *FAST)
    begun, receivers = [], [Receiver()]
    for run in range(6):
        server = Server(tmp_path, *flags)
        client = Consultant(server)
        if run == 0:
            client.register(f"{receivers[0].url}/good")
        threading.Timer(0.05 + 0.07 * run, server.kill).start()
        try:
            for number in range(10_000):
                name = f"visit-{run}-{number}"
                client.begin(name)
                begun.append((name, "session.started"))
                client.end(name)
                begun.append((name, "session.ended"))
        except (AssertionError, requests.RequestException):
            pass
        server.process.wait(PATIENCE)
        # Another one at the same address, so that what each server has sent is told apart.
        receivers[-1].__exit__()
        receivers.append(Receiver(receivers[0].port))
    with running(tmp_path, *flags) as server, receivers[-1]:
        # Also what was ended, and not yet processed.
        wait_until(lambda: admin(server, "info")["counts"]["jobs"] == 0, "everything is processed")
        settle(server)
    assert len(begun) > 10
    everything = {event for receiver in receivers for event in receiver.heard["/good"]}
    assert set(begun) <= everything
    assert {(name, "session.completed") for name, event in begun if event == "session.ended"} <= everything
    for receiver in receivers:
        heard = receiver.heard["/good"]
        assert len(set(heard)) == len(heard), "nothing twice without a kill between"


def test_the_webhooks_verbs_use_the_operator_api_with_its_token(tmp_path):
    def run(verb, *arguments):
        return subprocess.run(
            [BINARY, "webhooks", verb, "--url", server.base_url, *arguments], capture_output=True, text=True,
            cwd=tmp_path, timeout=PATIENCE)

    strict = (
        "--host", "0.0.0.0", "--auth", "strict", "--demo-seed", "--data-dir", "data", "--outbound-allow", "127.0.0.0/8")
    with Receiver() as receiver, running(tmp_path, *strict, "--webhook-pauses", "") as server:
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


def test_a_server_on_all_interfaces_sends_no_webhook_to_private_addresses(tmp_path):
    strict = ("--host", "0.0.0.0", "--auth", "strict", "--demo-seed", "--ephemeral")
    with Receiver() as receiver, running(tmp_path, *strict) as server:
        client = Consultant(server)
        for url in (receiver.url, "http://localhost:8080/", "http://10.0.0.1/", "http://[::1]:8080/", "http://2130706433/"):
            answer = client.session.post(server.base_url + SUBSCRIPTIONS, json={"endpoint": url})
            assert answer.status_code == 400 and "may not be sent" in answer.json()["error"]["message"], answer.text
        assert not receiver.heard


@pytest.mark.parametrize("language", ["python", "js"])
def test_the_receivers_of_the_recipe_accept_only_valid_signatures(tmp_path, language):
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
        pauses = ("--webhook-pauses", "50ms,50ms,100ms,200ms,400ms,800ms,1s,1s,2s,2s")
        with running(tmp_path, "--ephemeral", *pauses) as server:
            client = Consultant(server)
            for secret in ("of somebody else", key):
                subscription = {"endpoint": f"http://127.0.0.1:{port}/", "signing_key": secret}
                number = client.post(SUBSCRIPTIONS, subscription)["id"]
                delivery = requests.post(f"{server.base_url}/__admin/webhooks/{number}/test").json()["delivery_id"]
                path = f"deliveries/{delivery}"
                if secret == key:
                    wait_until(lambda: admin(server, path)["state"] == "delivered", "it is believed")
                else:
                    wait_until(lambda: admin(server, path).get("problem") == "answered 403", "it is not believed")
                    client.session.delete(f"{server.base_url}{SUBSCRIPTIONS}/{number}")
    finally:
        process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=PATIENCE)[0]
    assert "not genuine" in output and '"event":"v2rx.completed"' in output
