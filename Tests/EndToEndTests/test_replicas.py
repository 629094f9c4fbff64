"""Servers that share rows in PostgreSQL and audio in S3: any request on any of them."""

import collections
import concurrent.futures
import contextlib

import pytest
import requests
import speech
from client import text
from emulator import PATIENCE, run, wait_until
from shared_place import BUCKET, KEYS, CommitCutter, bucket, postgres, replica
from speech_service import SpeechService
from test_shared_data import done, upload
from webhooks import FAST, WHOLE, Consultant, Receiver, settle


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with postgres(tmp_path_factory.mktemp("postgres")) as database, bucket() as (endpoint, client):
        yield database, endpoint, client


@pytest.fixture
def servers(place, tmp_path):
    """Two servers on a schema of their own."""
    database, endpoint, _ = place
    schema = database.schema()
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(replica(tmp_path / name, schema, endpoint, "--long-poll", "3s"))
            for name in ("first", "second")]


def test_a_transaction_that_begins_on_one_server_goes_on_and_ends_on_the_other(servers, chunks, place):
    first, second = (server.client() for server in servers)
    # The token of one server is good on the other.
    second.session.headers["Authorization"] = first.session.headers["Authorization"]
    one, two = first.transaction("i-shared"), second.transaction("i-shared")
    assert one.init().status_code == 201
    assert two.init().status_code in (200, 201), "a repeated init finds the row"
    storage = second.s3()
    for path, start, end in chunks:
        two.upload(storage, path, start, end)
    one.uploaded, one.times = two.uploaded, two.times
    assert one.stop().status_code == 200
    # A poll that one server holds ends when the other has the result.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        held = pool.submit(two.poll)
        assert one.commit().status_code == 200
        answer = held.result(timeout=PATIENCE)
    answer = answer if answer.status_code == 200 else wait_until(
        lambda: (again := two.poll()).status_code == 200 and again, "the results are there")
    assert answer.json() == one.poll().json()
    outputs = answer.json()["data"]["output"]
    assert all(output["status"] == "success" for output in outputs) and "fever" in text(outputs[0]).lower()
    key = f"{one.folder}/{one.uploaded[0]}"
    assert first.s3().get_object(Bucket="m-prod-voice-record", Key=key)["Body"].read() == chunks[0][0].read_bytes()
    _, _, client = place
    assert client.list_objects_v2(Bucket=BUCKET)["KeyCount"] >= len(chunks), "the audio is in the bucket"


def test_an_edit_on_one_server_is_read_on_the_other_at_once(servers, chunks):
    first, second = (server.client() for server in servers)
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


def test_the_work_of_a_server_that_is_killed_is_done_by_the_other(place, tmp_path, chunks):
    database, endpoint, _ = place
    schema = database.schema()
    with replica(tmp_path / "first", schema, endpoint) as first, replica(tmp_path / "second", schema, endpoint) as second:
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


def test_two_servers_do_each_job_once_and_deliver_each_event_once_in_order(place, tmp_path, spoken):
    database, endpoint, _ = place
    schema = database.schema()
    audio = speech.encode(spoken[: 3 * speech.RATE], tmp_path / "chunk.wav").read_bytes()
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
                transaction = upload(client, storage, audio)
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


def test_calls_that_would_change_one_server_alone_are_refused(servers):
    for path in ("faults", "namespaces", "clock", "reset", "snapshots/now", "transactions/t/fail"):
        method = requests.put if path in ("clock", "snapshots/now") else requests.post
        answer = method(f"{servers[0].base_url}/__admin/{path}", json={}, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["code"]) == (409, "data_is_shared"), path


def test_a_database_that_stops_and_starts_again_loses_nothing_that_was_acknowledged(place, servers):
    database, _, _ = place
    client = servers[0].client()
    kept = client.transaction("i-kept")
    assert kept.init().status_code == 201
    database.stop("immediate")
    try:
        assert client.transaction("i-refused").init().status_code >= 500
        assert requests.get(f"{servers[0].base_url}/readyz", timeout=PATIENCE).status_code == 503
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


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--database", "mysql://x/y", "--objects", "s3://b"), "is no database"),
        (("--database", "postgres://scribe@127.0.0.1:{port}/postgres"), "go together"),
        (("--database", "postgres://scribe@127.0.0.1:1/postgres", "--objects", "s3://b"), "cannot be used"),
        (("--database", "postgres://scribe@127.0.0.1:{port}/missing", "--objects", "s3://b"), "does not exist"),
        (("--database", "postgres://scribe@127.0.0.1:{port}/postgres?schema=foreign", "--objects", "s3://b"), "another program"),
        (("--database", "postgres://scribe@127.0.0.1:{port}/postgres?schema=later", "--objects", "s3://b"), "later version"),
        (("--database", "{schema}", "--objects", "s3://missing?endpoint={endpoint}"), "takes no objects"),
        (("--database", "{schema}", "--objects", "s3://b", "--allow-reset"), "excludes"),
    ])
def test_a_database_or_bucket_that_cannot_be_used_ends_the_start_with_a_sentence(place, tmp_path, flags, sentence):
    database, endpoint, _ = place
    for statement in (
            "CREATE SCHEMA IF NOT EXISTS foreign_; CREATE SCHEMA IF NOT EXISTS \"foreign\"",
            "CREATE TABLE IF NOT EXISTS \"foreign\".other (id int)",
            "CREATE SCHEMA IF NOT EXISTS later; CREATE TABLE IF NOT EXISTS later.schema_version (version bigint)",
            "INSERT INTO later.schema_version VALUES (99)"):
        database.call("psql", "-h", "127.0.0.1", "-p", str(database.port), "-U", "scribe", "-d", "postgres", "-q", "-c", statement)
    flags = [flag.format(port=database.port, endpoint=endpoint, schema=database.schema()) for flag in flags]
    found = run("serve", "--port", "0", *flags, cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **KEYS})
    assert found.returncode != 0 and sentence in found.stderr, found.stderr
    assert "Traceback" not in found.stderr and len(found.stderr.splitlines()) <= 6
