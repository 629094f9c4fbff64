"""Resets of a data folder: kills at any moment, backups meanwhile, and what is on its way."""

import fcntl
import os
import random
import threading
import time

import pytest
import requests
from emulator import PATIENCE, run, running, state_folder, wait_until
from namespaces import Access, EkaClient, control, counts, listener
from websockets.exceptions import ConnectionClosed

NOTHING = {"jobs": 0, "objects": 0, "object_bytes": 0, "webhooks": 0}


def flags(folder):
    return "--data-dir", str(folder / "data"), "--allow-reset"


def filled(server, name: str):
    """Starts a consultation of that name, with an upload. Both are acknowledged."""
    client = EkaClient(Access(server.base_url))
    assert client.transaction(name).init().status_code == 201
    client.s3().put_object(Bucket="kept", Key=name, Body=b"audio")


def content(server) -> tuple[list[str], int]:
    client = EkaClient(Access(server.base_url))
    return client.history(), counts(server)["objects"]


def test_a_kill_during_a_reset_leaves_the_old_state_or_the_new_one(tmp_path):
    dice = random.Random(44)
    for number in range(8):
        with running(tmp_path, *flags(tmp_path)) as server:
            before = content(server)
            # After a reset there is nothing, before it there is all that was acknowledged.
            assert before == ([], 0) or before == ([f"round-{number - 1}"], 1), before
            if before != ([], 0):
                assert control(server, "POST", "reset").status_code == 200
            filled(server, f"round-{number}")
            moment = dice.uniform(0, 0.02)
            end = threading.Thread(target=lambda: (time.sleep(moment), server.kill()), daemon=True)
            end.start()
            try:
                control(server, "POST", "reset")
            except requests.ConnectionError:
                pass
            end.join()
    with running(tmp_path, *flags(tmp_path)):
        states = tmp_path / "data/states"
        wait_until(lambda: (tmp_path / "data/current").read_text().strip() in os.listdir(states), "the valid state is there")
        # One is valid, and one is ready for the next reset.
        wait_until(lambda: len(os.listdir(states)) <= 2, "all others are removed")


def test_a_reset_ends_polls_and_sockets_and_removes_the_files(tmp_path):
    with running(tmp_path, *flags(tmp_path), "--long-poll", "1h") as server:
        filled(server, "t")
        old = state_folder(tmp_path / "data")
        client = EkaClient(Access(server.base_url))
        answers = []
        poll = threading.Thread(target=lambda: answers.append(client.get("/voice/api/v3/status/t?waitTime=600")))
        poll.start()
        wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
        with listener(Access(server.base_url)) as socket:
            answer = control(server, "POST", "reset")
            assert (answer.status_code, answer.json()) == (200, {"namespace": "default", "state": 2})
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    socket.socket.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 1012
        poll.join(PATIENCE)
        assert answers[0].status_code in (200, 202)
        assert content(server) == ([], 0) and counts(server) == NOTHING
        wait_until(lambda: not old.exists(), "the old state is removed")


def test_a_reset_while_a_backup_reads_is_refused(tmp_path):
    with running(tmp_path, *flags(tmp_path)) as server:
        filled(server, "t")
        reader = os.open(state_folder(tmp_path / "data"), os.O_RDONLY)
        fcntl.flock(reader, fcntl.LOCK_SH)
        refused = control(server, "POST", "reset")
        assert refused.status_code == 409 and refused.json()["code"] == "backup_runs"
        assert content(server) == (["t"], 1)
        os.close(reader)
        assert control(server, "POST", "reset").status_code == 200


def test_backups_between_resets_are_whole(tmp_path):
    file = tmp_path / "backup.tar"
    with running(tmp_path, *flags(tmp_path)) as server:
        done = threading.Event()

        def reset_again():
            while not done.is_set():
                assert control(server, "POST", "reset").status_code in (200, 409)

        thread = threading.Thread(target=reset_again)
        thread.start()
        try:
            for number in range(3):
                backup = run("backup", "--data-dir", str(tmp_path / "data"), str(file))
                assert backup.returncode == 0, backup.stderr
                target = tmp_path / f"restored-{number}"
                restored = run("restore", "--data-dir", str(target), str(file))
                assert restored.returncode == 0, restored.stderr
        finally:
            done.set()
            thread.join()
    with running(tmp_path, "--data-dir", str(tmp_path / "restored-0")) as server:
        assert content(server) == ([], 0)


def test_backup_says_what_to_do_where_rows_are_in_memory(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    with running(tmp_path, "--ephemeral", environment={"TMPDIR": str(folder)}) as server:
        filled(server, "t")
        [data] = folder.glob("scribe-emulator-*")
        answer = run("backup", "--data-dir", str(data), str(tmp_path / "backup.tar"))
        assert answer.returncode == 1 and "snapshot export" in answer.stderr
        assert not (tmp_path / "backup.tar").exists()
    assert not list(folder.glob("scribe-emulator-*"))
