"""`kill -9` of the server: acknowledged work of every API family is there exactly once after the restart, and goes on.

One server serves all scenarios, and one kill ends it. SCRIBE_KILL_ROUNDS sets the number of kills under load: one
in `make test`, 10 in `make test-full`, 1,000 in `make soak`.
"""

import contextlib
import os
import pathlib
import random
import threading

import botocore.exceptions
import pytest
import requests
from crash_load import Load
from crash_scenarios import (
    SCENARIOS, AmbientSession, DeviceConversation, LiveConsultation, Namespaces, ProtocolSessions, Transactions,
    WebhookDeliveries)
from crashes import CrashSite, content, fill
from emulator import PATIENCE, Server, wait_until
from namespaces import control
from webhooks import Consultant, Receiver, settle

#: Kills under load in one test. None unless it is set.
ROUNDS = os.environ.get("SCRIBE_KILL_ROUNDS")
#: Parts of each stretch of load. A part ends after PART more transactions with results.
STRETCH, PART = 100 if ROUNDS else 1, 25


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Data folder that all tests share."""
    site = CrashSite(tmp_path_factory.mktemp("crashes"))
    try:
        yield site
    finally:
        site.close()


@pytest.fixture(scope="module")
def after_reset(site):
    """What a server has after its predecessor was killed in a reset, as soon as the new state was the valid one."""
    fill(site.server, "before-the-reset")
    current = site.data / "current"
    before = current.read_text()
    reset = threading.Thread(target=reset_until_killed, args=(site.server,))
    reset.start()
    # No pause between looks: the rest of a reset takes less than a millisecond.
    while current.read_text() == before and reset.is_alive():
        pass
    assert current.read_text() != before
    site.crash()
    reset.join(PATIENCE)
    return content(site.server)


@pytest.fixture(scope="module")
def crashed(site, after_reset):
    """All scenarios by their class, begun before one kill of their server and not checked yet."""
    scenarios = [scenario(site) for scenario in SCENARIOS]
    for scenario in scenarios:
        scenario.begin(site.server)
    site.server.kill()
    for scenario in scenarios:
        scenario.while_down()
    site.start()
    return {type(scenario): scenario for scenario in scenarios}


def reset_until_killed(server: Server):
    with contextlib.suppress(requests.ConnectionError):
        control(server, "POST", "reset")


def only_needed_states_are_left(site: CrashSite):
    """Waits until no other states are left than the valid one, and the one that is ready for the next reset."""
    states = site.data / "states"
    assert (site.data / "current").read_text().strip() in os.listdir(states)
    wait_until(lambda: len(os.listdir(states)) <= 2, "all others are removed")


def test_a_kill_as_a_reset_makes_its_state_the_valid_one_leaves_that_state(site, after_reset):
    assert after_reset == ([], 0)
    only_needed_states_are_left(site)


def test_transactions_killed_after_any_of_their_steps_keep_their_uploads_and_get_results(site, crashed):
    crashed[Transactions].check(site.server)


def test_chunks_and_streamed_audio_of_protocol_sessions_survive_a_kill(site, crashed):
    crashed[ProtocolSessions].check(site.server)


def test_every_segment_that_a_device_got_back_survives_a_kill_and_the_conversation_goes_on(site, crashed):
    crashed[DeviceConversation].check(site.server)


@pytest.mark.covers("U-20")
def test_an_ambient_stream_that_is_sent_again_after_a_kill_is_in_the_recording_once(site, crashed):
    crashed[AmbientSession].check(site.server)


def test_final_results_of_a_live_stream_survive_a_kill(site, crashed):
    crashed[LiveConsultation].check(site.server)


def test_a_kill_ends_namespaces_with_their_audio_and_tokens_and_keeps_the_main_state(site, crashed):
    crashed[Namespaces].check(site.server)


def test_a_kill_before_a_receivers_answer_sends_that_event_again_and_no_other(site, crashed):
    crashed[WebhookDeliveries].check(site.server)


@pytest.mark.parametrize(
    "rounds", [int(ROUNDS)] if ROUNDS else [1, pytest.param(10, marks=pytest.mark.full)], ids="rounds={}".format)
def test_kills_at_random_moments_under_load_lose_nothing(site, rounds):
    dice = random.Random(rounds)
    receivers, events, uploads, results, earlier = [Receiver()], set(), 0, 0, {}
    hook = Consultant(site.server).register(f"{receivers[0].url}/good")
    for number in range(1, rounds + 1):
        with Load(site.server) as load:
            least = dice.randint(20, 100)
            wait_until(lambda: load.count >= least or load.problems, f"{least} steps are acknowledged")
            load.stopping.set()
            site.server.kill()
        # Another one at the same address, so that what each server has sent is told apart.
        receivers[-1].stop()
        receivers.append(Receiver(receivers[0].port))
        site.start()
        load.check(site.server)
        for identifier, output in earlier.items():
            known = site.server.client().transaction(identifier).poll()
            assert known.json()["data"]["output"] == output, "a result of an earlier round has changed"
        earlier = load.sample(dice)
        events |= load.events
        uploads, results = uploads + len(load.objects), results + len(load.results)
        if number % 10 == 0:
            # A stop after a kill loses no more than another kill.
            site.server.stop()
            receivers[-1].stop()
            receivers.append(Receiver(receivers[0].port))
            site.start()
        if number % 50 == 0:
            print(f"{number} kills: {uploads} uploads, {results} results, {len(events)} events", flush=True)
    settle(site.server)
    Consultant(site.server).unregister(hook)
    for receiver in receivers:
        heard = receiver.heard["/good"]
        assert len(set(heard)) == len(heard), "nothing is sent twice without a kill between"
        events -= set(heard)
    receivers[-1].stop()
    assert not events, "all are delivered"
    assert uploads > rounds and results > rounds / 2


def usage(pid: int) -> dict:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    values = dict(line.split(":", 1) for line in status.splitlines())
    return {
        "memory": int(values["VmRSS"].split()[0]), "threads": int(values["Threads"]),
        "files": len(os.listdir(f"/proc/{pid}/fd"))}


def test_memory_files_and_threads_do_not_grow_under_load(site):
    """Three stretches of load on one server: after the first, nothing may grow with the number of requests."""
    samples = []
    for _ in range(3):
        # The conversation of a device that talks is never over, and may grow.
        with Load(site.server, talks=False) as load:
            for part in range(1, STRETCH + 1):
                wait_until(lambda: len(load.results) >= PART * part or load.problems, "a part of the stretch ends")
        assert not load.problems
        requests.get(f"{site.server.base_url}/livez")
        samples.append(usage(site.server.process.pid))
    first, last = samples[0], samples[-1]
    assert last["memory"] < first["memory"] * 1.5 + 20_000, samples
    assert last["files"] <= first["files"] + 10, samples
    assert last["threads"] <= first["threads"] + 4, samples


@pytest.mark.full
def test_one_transaction_survives_a_kill_after_each_of_its_steps(site):
    scenario = Transactions(site)
    scenario.client, scenario.files = site.server.client(), {}
    transaction = scenario.client.transaction("killed-six-times")
    for step in ("init", "upload", "upload", "upload", "stop", "commit"):
        scenario.take(transaction, step, scenario.client.s3())
        site.crash()
        scenario.client.base_url = site.server.base_url
    rows = scenario.client.session.get(f"{site.server.base_url}/voice/api/v2/transaction/history").json()["data"]
    assert [row["user_status"] for row in rows if row["txn_id"] == transaction.id] == ["commit"]
    scenario.finish(transaction)


@pytest.mark.full
def test_a_kill_at_any_moment_of_a_reset_leaves_the_old_state_or_the_new_one(tmp_path):
    site, dice = CrashSite(tmp_path), random.Random(44)
    try:
        for number in range(8):
            fill(site.server, f"round-{number}")
            end = threading.Timer(dice.uniform(0, 0.02), site.server.process.kill)
            end.start()
            reset_until_killed(site.server)
            site.has_died()
            # After a reset there is nothing, and before it all that was acknowledged.
            found = content(site.server)
            assert found in (([], 0), ([f"round-{number}"], 1))
            if found != ([], 0):
                assert control(site.server, "POST", "reset").status_code == 200
        only_needed_states_are_left(site)
    finally:
        site.close()


@pytest.mark.full
def test_a_kill_after_a_receivers_answer_loses_no_event(site):
    """Killed 2 ms after the answer, so that the delivery may or may not be recorded."""
    receiver, begun = Receiver(), []

    def kill(path, event):
        if event[0] == "answered-5":
            threading.Timer(0.002, site.server.process.kill).start()

    receiver.before_answer = kill
    client = Consultant(site.server)
    hook = client.register(f"{receiver.url}/good", "started")
    with contextlib.suppress(AssertionError, requests.RequestException):
        for number in range(1000):
            client.begin(f"answered-{number}")
            begun.append(f"answered-{number}")
    site.server.process.wait(PATIENCE)
    receiver.stop()
    with Receiver(receiver.port) as again:
        site.start()
        settle(site.server)
        Consultant(site.server).unregister(hook)
    heard_before, heard_after = receiver.heard["/good"], again.heard["/good"]
    # The event of a transaction whose answer was lost with the server may be there as well.
    assert set(begun) <= {name for name, _ in heard_before + heard_after}
    for heard in (heard_before, heard_after):
        assert len(set(heard)) == len(heard), "nothing is sent twice without a kill between"


@pytest.mark.full
def test_a_chunk_that_kills_the_server_each_time_is_given_up(tmp_path, chunks):
    """The transcriber kills its parent. After three starts the fourth one leaves the chunk alone."""
    script = tmp_path / "poison"
    script.write_text("#!/bin/sh\nkill -9 $PPID\n")
    script.chmod(0o755)
    flags = ["--data-dir", "data", "--transcriber", f"command:{script} {{file}}"]
    server = Server(tmp_path, *flags)
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    # The server keeps the chunk and transcribes it at once, so that it may be dead before it answers.
    with contextlib.suppress(botocore.exceptions.BotoCoreError):
        transaction.upload(client.s3(), *chunks[0])
    starts, is_committed, answer = 1, False, None
    while answer is None:
        try:
            client.base_url = server.base_url
            # Once only: after a failure of the system a commit tries everything again.
            is_committed = is_committed or transaction.commit().status_code == 200
            answer = transaction.poll()
        except (AssertionError, requests.exceptions.ConnectionError):
            server.process.wait(timeout=PATIENCE)
            starts += 1
            # Three for each commit that is made, also of those whose answer was lost with the server.
            assert starts < 20, "it kills the server for ever"
            with contextlib.suppress(AssertionError):  # killed before it was ready
                server = Server(tmp_path, *flags)
    assert starts > 1
    # On a busy machine the results were being put together at each kill too, and are given up with the chunk.
    assert answer.json()["data"]["output"][0]["errors"][0]["code"] in ("transcription_failed", "processing_failed")
    server.stop()
