"""Servers that share PostgreSQL and S3 while connections, servers and PostgreSQL end: `make scale-test`."""

import collections
import concurrent.futures
import contextlib

import pytest
import requests
from device_client import Device
from emulator import PATIENCE, run, running, wait_until
from replica_load import done, recorded
from session_client import SessionClient, recording
from shared_place import BUCKET, KEYS, CommitCutter, replica
from speech_service import SpeechService
from webhooks import FAST, WHOLE, Consultant, Receiver, settle
from websockets.sync.client import connect


def test_an_edit_on_one_server_is_read_on_the_other_at_once(replicas, chunks):
    first, second = (server.client() for server in replicas)
    one, two = first.transaction("i-edited"), second.transaction("i-edited")
    one.init()
    storage = first.s3()
    for path, start, end in chunks[:1]:
        one.upload(storage, path, start, end)
    one.stop()
    one.commit()
    wait_until(lambda: one.poll().status_code == 200 and two.poll().status_code == 200, "both have the results")
    for number, (writer, reader) in enumerate([(one, two), (two, one)] * 3):
        document = writer.poll().json()["data"]["output"][0]
        data = [{"template-id": document["template_id"], "data": document["value"][:4] * (number + 1)}]
        url = f"{writer.client.base_url}/voice/api/v3/status/{writer.id}"
        assert writer.client.session.patch(url, json=data).status_code == 200
        assert writer.poll().json() == reader.poll().json()


def test_a_nul_in_a_list_is_no_failure_of_a_server(replicas):
    """PostgreSQL's JSON has no NUL, and SQLite's has."""
    client = replicas[0].client()
    transaction = client.transaction("i-nul")
    assert transaction.init().status_code == 201
    url = f"{client.base_url}/voice/api/v1/sessions/{transaction.id}/context"
    answers = [client.session.patch(url, json={"context": {"past_sessions": ["a\0b"]}})]
    with Device(replicas[0]) as device:
        device.say("hello")
        device.until(1)
        [conversation] = device.conversations()
        assert device.call("POST", "/v3/memories", json={"content": "likes tea"}).status_code == 200
        bulk = {"assign_type": "is_user", "value": "true", "segment_ids": ["a\0b"]}
        answers += [
            device.call("PATCH", f"/v1/conversations/{conversation['id']}/segments/assign-bulk", json=bulk),
            device.call("GET", "/v3/memories", params={"categories": "a\0b"})]
    assert all(answer.status_code < 500 for answer in answers), [answer.text for answer in answers]


def test_the_work_of_a_server_that_is_killed_is_done_by_the_other(place, tmp_path, chunks):
    database, endpoint, _ = place
    schema = database.schema()
    with (
        replica(tmp_path / "first", schema, endpoint) as first,
        replica(tmp_path / "second", schema, endpoint) as second,
    ):
        client = first.client()
        transactions = [client.transaction() for _ in range(5)]
        for transaction in transactions:
            assert transaction.init().status_code == 201
            storage = client.s3()
            for path, start, end in chunks[:2]:
                transaction.upload(storage, path, start, end)
            assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
        first.kill()
        other = second.client()
        for transaction in transactions:
            transaction.client = other
            answer = wait_until(
                lambda: (found := transaction.poll()).status_code == 200 and found, "the other server has the result")
            assert all(output["status"] == "success" for output in answer.json()["data"]["output"])


def test_a_front_serves_clients_and_a_worker_recognises_and_writes_notes(place, tmp_path, chunks):
    database, endpoint, _ = place
    schema = database.schema()
    with replica(tmp_path / "front", schema, endpoint, "--role", "front") as front:
        client = front.client()
        transaction = client.transaction()
        assert transaction.init().status_code == 201
        storage = client.s3()
        for path, start, end in chunks[:2]:
            transaction.upload(storage, path, start, end)
        assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
        assert transaction.poll(waitTime=1).status_code == 202
        with replica(tmp_path / "worker", schema, endpoint, "--role", "worker") as worker:
            answer = wait_until(
                lambda: (found := transaction.poll()).status_code == 200 and found, "the worker is done")
            assert all(output["status"] == "success" for output in answer.json()["data"]["output"])
            assert requests.get(f"{worker.base_url}/readyz", timeout=PATIENCE).status_code == 200
            url = f"{worker.base_url}/connect-auth/v1/account/login"
            assert requests.post(url, json={}, timeout=PATIENCE).status_code == 404


def test_a_client_that_is_added_on_one_server_logs_in_on_the_other(replicas):
    first, second = replicas
    seed = {"clients": [{"client_id": "clinic", "client_secret": "a-secret-of-the-clinic", "business_id": "b-clinic"}]}
    assert requests.post(f"{first.base_url}/__admin/seed", json=seed, timeout=PATIENCE).status_code == 200
    login = {"client_id": "clinic", "client_secret": "a-secret-of-the-clinic"}

    def logs_in() -> bool:
        url = f"{second.base_url}/connect-auth/v1/account/login"
        return requests.post(url, json=login, timeout=PATIENCE).status_code == 200

    wait_until(logs_in, "the other server knows the client")


def test_the_data_of_a_folder_is_moved_whole_and_served_by_both_servers(place, tmp_path, chunks):
    database, endpoint, _ = place
    schema = database.schema()
    data = tmp_path / "data"
    with running(tmp_path, "--data-dir", str(data)) as old:
        client = old.client()
        transaction = client.transaction("i-moved")
        assert transaction.init().status_code == 201
        storage = client.s3()
        for path, start, end in chunks:
            transaction.upload(storage, path, start, end)
        assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
        before = done(transaction).json()
    objects = f"s3://{BUCKET}/moved?endpoint={endpoint}"
    arguments = ("move", "--from", str(data), "--database", schema, "--objects", objects)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **KEYS}
    moved = run(*arguments, env=environment)
    assert moved.returncode == 0, moved.stderr
    assert f"{len(chunks)} uploads were moved" in moved.stdout and not data.exists()
    again = run("move", "--from", f"{data}.moved", "--database", schema, "--objects", objects, env=environment)
    assert again.returncode == 1 and "holds data already" in again.stderr
    with contextlib.ExitStack() as stack:
        pair = [
            stack.enter_context(replica(tmp_path / name, schema, endpoint, folder="moved")) for name in ("one", "two")]
        token = client.session.headers["Authorization"]
        for server in pair:
            # The signing key came along, and so did the token of the login before.
            transaction.client = server.client()
            transaction.client.session.headers["Authorization"] = token
            assert transaction.poll().json() == before
            key = f"{transaction.folder}/{transaction.uploaded[0]}"
            body = transaction.client.s3().get_object(Bucket="m-prod-voice-record", Key=key)["Body"].read()
            assert body == chunks[0][0].read_bytes()
            assert transaction.client.transaction().init().status_code == 201, "new ids follow the old ones"


def test_the_end_of_a_session_on_one_server_stores_what_a_socket_on_the_other_has_buffered(replicas):
    first, second = (SessionClient(server.base_url) for server in replicas)
    created = first.create(upload_type="stream")
    session, audio = created["session_id"], recording(5)[44:]
    with connect(created["upload_url"], max_size=None) as socket:
        socket.send(audio)
        socket.ping().wait(PATIENCE)
        assert second.call("GET", f"/sessions/{session}", (202,)).json()["audio_files"] == []
        second.end(session, 0)
        results = second.results(session)
    assert results["status"] == "completed" and results["transcript"]
    storage = replicas[1].client().s3()
    [name] = results["audio_files"]
    stored = storage.get_object(Bucket="m-prod-ekascribe-batch", Key=f"sessions/{session}/{name}")["Body"].read()
    assert stored[44:] == audio


def test_two_servers_do_each_job_once_and_deliver_each_event_once_in_order(place, tmp_path):
    database, endpoint, _ = place
    schema = database.schema()
    with SpeechService(delay=0.02) as service, Receiver() as receiver, contextlib.ExitStack() as stack:
        flags = ("--transcriber", service.transcriber("openai"), *FAST)
        pair = [
            stack.enter_context(replica(tmp_path / name, schema, endpoint, *flags)) for name in ("first", "second")]
        Consultant(pair[0]).register(f"{receiver.url}/good")

        def consult(server) -> list:
            client = server.client()
            storage = client.s3()
            transactions = []
            for _ in range(6):
                transaction = recorded(client, storage)
                assert transaction.commit().status_code == 200
                done(transaction)
                transactions.append(transaction)
            return transactions

        with concurrent.futures.ThreadPoolExecutor() as pool:
            finished = [transaction for found in pool.map(consult, pair) for transaction in found]
        asked = collections.Counter(request["audio"] for request in service.requests)
        assert len(asked) == 24 and set(asked.values()) == {1}
        settle(pair[0])
        heard = collections.defaultdict(list)
        for session, event in receiver.heard["/good"]:
            heard[session].append(event)
        assert len(heard) == len(finished) == 12 and all(events == WHOLE for events in heard.values()), heard


def test_a_database_that_stops_and_starts_again_loses_nothing_that_was_acknowledged(place, replicas):
    database, _, _ = place
    client = replicas[0].client()
    kept = client.transaction("i-kept")
    assert kept.init().status_code == 201
    database.stop("immediate")
    try:
        assert client.transaction("i-refused").init().status_code >= 500
        assert requests.get(f"{replicas[0].base_url}/readyz", timeout=PATIENCE).status_code == 503
    finally:
        database.start()
    wait_until(lambda: client.transaction("i-again").init().status_code == 201, "the server stores again")
    assert kept.poll().status_code == 202


@pytest.mark.parametrize("is_sent", [True, False], ids=["after", "before"])
def test_a_write_whose_connection_ends_at_the_commit_is_stored_once(place, tmp_path, is_sent):
    database, endpoint, _ = place
    schema = database.schema()
    with CommitCutter(database.port, is_sent) as cutter:
        proxied = schema.replace(f":{database.port}/", f":{cutter.port}/")
        with replica(tmp_path / "first", proxied, endpoint) as server:
            client = server.client()
            cutter.left = 3
            transactions = [client.transaction(f"i-{number}") for number in range(8)]
            for transaction in transactions:
                assert transaction.init().status_code == 201
            assert cutter.left == 0, "connections were cut"
            history = client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").json()["data"]
            assert sorted(row["txn_id"] for row in history) == sorted(transaction.id for transaction in transactions)
