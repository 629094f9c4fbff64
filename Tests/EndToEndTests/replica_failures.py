"""Servers on PostgreSQL and SeaweedFS while these fail, freeze, end and are migrated: `make scale-test`."""

import concurrent.futures
import contextlib
import threading
import uuid

import pytest
import requests
from balancer import balanced
from botocore.exceptions import ClientError
from client import BUCKET
from emulator import PATIENCE, run, wait_until
from listen_client import SPEECH, Listener, consultation, hear, said, transcript
from replica_load import Load, done, recorded
from session_client import SessionClient, form_of, recording, send
from shared_place import KEYS, Network, postgres, replica, seaweed
from speech_service import SpeechService


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with seaweed(tmp_path_factory.mktemp("seaweed")) as service:
        yield service


@pytest.fixture(scope="module")
def place(service):
    with postgres() as database:
        yield database, service.endpoint, service.client()


@pytest.fixture
def server(place, tmp_path):
    database, endpoint, _ = place
    with replica(tmp_path / "alone", database.schema(), endpoint, "--long-poll", "3s") as server:
        yield server


def end(transaction):
    assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
    assert all(output["status"] == "success" for output in done(transaction).json()["data"]["output"])


def by_put(server, body: bytes):
    client = server.client()
    transaction = client.transaction()
    assert transaction.init(["soap"]).status_code == 201
    client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=body)
    transaction.uploaded.append("1.wav")
    end(transaction)


def by_parts(server, body: bytes):
    client = server.client()
    transaction = client.transaction()
    assert transaction.init(["soap"]).status_code == 201
    s3 = client.s3()
    where = {"Bucket": BUCKET, "Key": f"{transaction.folder}/1.wav"}
    target = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    half = 5 << 20
    tags = [
        s3.upload_part(**target, PartNumber=number, Body=part)["ETag"]
        for number, part in [(1, body[:half]), (2, body[half:])]]
    parts = [{"ETag": tag, "PartNumber": number} for number, tag in enumerate(tags, 1)]
    s3.complete_multipart_upload(**target, MultipartUpload={"Parts": parts})
    transaction.uploaded.append("1.wav")
    end(transaction)
    assert s3.get_object(**where)["Body"].read() == body


def by_form(server, body: bytes):
    client = SessionClient(server.base_url)
    session, form = form_of(client)
    assert send(form, "1.wav", body).status_code == 204
    client.end(session, 1)
    assert client.results(session)["status"] == "completed"


def by_session(server, body: bytes):
    client = SessionClient(server.base_url)
    session = client.create(templates=["soap"])["session_id"]
    client.upload(session, 1, body)
    client.end(session, 1)
    assert client.results(session)["status"] == "completed"


WAYS = {"PUT": by_put, "multipart": by_parts, "form": by_form, "session": by_session}


@pytest.mark.parametrize("way", WAYS)
def test_a_consultation_of_each_way_of_uploading_is_in_the_bucket_byte_for_byte(service, server, way):
    body = recording(200 if way == "multipart" else 3)
    WAYS[way](server, body)
    assert body in service.bodies(server.prefix)


def test_a_killed_bucket_loses_no_upload_and_no_visit(place, service, tmp_path):
    database, endpoint, _ = place
    audio = recording(3)
    with balanced(tmp_path / "balanced", place, "--long-poll", "3s") as balancer:
        server = balancer.servers[0]
        client = server.client()
        finished, refused = recorded(client, client.s3()), client.transaction("i-refused")
        end(finished)
        assert refused.init(["soap"]).status_code == 201
        load = Load(balancer, audio)
        with load.running():
            service.kill()
            try:
                wait_until(lambda: readiness(server)["storage"] == "unreachable", "the server notices")
                assert finished.poll().status_code == 200
                with pytest.raises(ClientError) as refusal:
                    client.s3().put_object(Bucket=BUCKET, Key=f"{refused.folder}/1.wav", Body=audio)
                assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] >= 500
                listed = client.s3().list_objects_v2(Bucket=BUCKET, Prefix=refused.folder)
                assert listed["KeyCount"] == 0, "nothing of it is stored"
            finally:
                service.start()
        wait_until(lambda: readiness(server)["storage"] == "ready", "the server notices")
        assert refused.call("stop", {"audio_files": [], "chunk_info": []}).status_code == 200
        assert set(load.stored.values()) <= set(service.bodies(server.prefix))
        load.check(beside=(finished.id, refused.id))


def readiness(server) -> dict:
    answer = requests.get(f"{server.base_url}/readyz", timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    return answer.json()["components"]


def test_recognition_waits_for_audio_that_the_bucket_cannot_give(place, service, tmp_path):
    database, endpoint, _ = place
    with SpeechService(delay=2) as speech:
        flags = ("--transcriber", speech.transcriber("openai"), "--transcriber-concurrency", "1", "--long-poll", "3s")
        schema = database.schema()
        # The first server has copies of what it received, the second has none.
        with (
            replica(tmp_path / "front", schema, endpoint, *flags, "--role", "front") as server,
            replica(tmp_path / "worker", schema, endpoint, *flags) as worker,
        ):
            client = server.client()
            transaction = recorded(client, client.s3(), count=4)
            wait_until(lambda: speech.requests, "the first chunk is recognised")
            service.kill()
            try:
                assert transaction.commit().status_code == 200
                worker.logged("a job failed")
            finally:
                service.start()
            outputs = done(transaction).json()["data"]["output"]
            assert [output["status"] for output in outputs] == ["success"]
            assert len({request["audio"] for request in speech.requests}) == 4


def test_a_database_that_stands_still_loses_nothing_and_the_server_works_again(place, server, tmp_path):
    database, _, _ = place
    audio = recording(3)
    client = server.client()
    end(recorded(client, client.s3()))
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        with database.frozen():
            sent = [pool.submit(client.transaction(f"i-{number}").init, ["soap"]) for number in range(12)]
            # All are answered, or PostgreSQL stands still for longer than a request waits for it.
            concurrent.futures.wait(sent, timeout=20)
        statuses = {f"i-{number}": each.result().status_code for number, each in enumerate(sent)}
    assert set(statuses.values()) <= {201, 503}, statuses
    url = f"{server.base_url}/readyz"
    wait_until(lambda: requests.get(url, timeout=PATIENCE).status_code == 200, "PostgreSQL answers")
    history = client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").json()["data"]
    found = {row["txn_id"] for row in history}
    assert {name for name, status in statuses.items() if status == 201} <= found
    for way in ("PUT", "session"):
        WAYS[way](server, audio)


def test_a_database_whose_machine_is_lost_is_reported_while_it_is_and_used_when_it_is_back(place, tmp_path):
    _, endpoint, _ = place
    audio = recording(3)
    with Network() as network, postgres(network=network) as database:
        with replica(tmp_path / "alone", database.schema(), endpoint, "--long-poll", "3s", folder="distant") as server:
            client = server.client()
            end(recorded(client, client.s3()))

            def first(number: int) -> int:
                return client.transaction(f"i-{number}").init(["soap"]).status_code

            # More at once than the server has connections to PostgreSQL.
            count = 40
            with concurrent.futures.ThreadPoolExecutor(count + 1) as pool, network.lost():
                refused = pool.map(first, range(count), timeout=PATIENCE)
                ready = pool.submit(requests.get, f"{server.base_url}/readyz", timeout=PATIENCE)
                assert list(refused) == [503] * count
                assert ready.result().status_code == 503
            wait_until(lambda: first(0) in (200, 201), "PostgreSQL can be reached")
            assert {first(number) for number in range(count)} <= {200, 201}
            for way in ("PUT", "session"):
                WAYS[way](server, audio)


def test_a_server_whose_machine_is_lost_keeps_no_other_server_from_its_writes(place, tmp_path):
    _, endpoint, _ = place
    with Network() as network, postgres(network=network) as database, contextlib.ExitStack() as stack:
        # Another way to the same schema, which is not lost.
        near = f"postgres://scribe@/postgres?host={database.data}&port={database.port}&schema=s1"
        first, second = (
            stack.enter_context(replica(tmp_path / name, url, endpoint, folder="divided"))
            for name, url in [("first", database.schema()), ("second", near)])
        client, other = first.client(), second.client()
        stopped = threading.Event()

        def write(number: int):
            # A client repeats nothing here: some writes are on their way when the machine is lost.
            while not stopped.is_set():
                with contextlib.suppress(requests.RequestException):
                    client.session.post(
                        f"{first.base_url}/voice/api/v2/transaction/init/i-{uuid.uuid4()}", timeout=1,
                        json={"mode": "consultation", "transfer": "vaded", "s3_url": "s3://b/lost"})

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            writers = [pool.submit(write, number) for number in range(12)]
            wait_until(lambda: first.log.count(" 201") > 50, "the first server writes")
            with network.lost():
                stopped.set()
                concurrent.futures.wait(writers)
                wait_until(lambda: other.transaction().init(["soap"]).status_code == 201, "the second server writes")
            first.kill()


def test_a_database_that_ends_under_load_loses_no_visit(place, tmp_path):
    database, _, _ = place
    audio = recording(3)
    with balanced(tmp_path / "balanced", place, "--long-poll", "3s") as balancer:
        load = Load(balancer, audio)
        with load.running():
            database.stop("immediate")
            database.start()
        load.check()


def test_a_killed_server_leaves_its_stream_its_polls_and_its_jobs_to_another(place, tmp_path):
    database, endpoint, _ = place
    schema = database.schema()
    with contextlib.ExitStack() as stack:
        busy, free = stack.enter_context(SpeechService()), stack.enter_context(SpeechService())
        flags = ("--long-poll", "60s", "--transcriber")
        first, second = (
            stack.enter_context(replica(tmp_path / name, schema, endpoint, *flags, each.transcriber("openai")))
            for name, each in [("first", busy), ("second", free)])
        streamed = consultation(first)
        query = f"endpointing=300&punctuate=true&txn_id={streamed.id}"
        with Listener(first, query) as listener:
            listener.send(SPEECH)
            listener.until("Results")
            # From now on the first server's recogniser does not answer.
            busy.delay = PATIENCE
            client = first.client()
            transaction = recorded(client, client.s3())
            wait_until(lambda: len(busy.requests) >= 3, "a job runs on the first server")
            assert transaction.commit().status_code == 200
            with concurrent.futures.ThreadPoolExecutor() as pool:
                other = second.client()
                lost = pool.submit(transaction.poll)
                url = f"{second.base_url}/voice/api/v3/status/{transaction.id}"
                held = pool.submit(other.session.get, url, timeout=PATIENCE)
                for each in (first, second):
                    wait_until(lambda: each.metric("scribe_held_polls") == 1, "both servers hold a poll")
                first.kill()
                with pytest.raises(requests.ConnectionError):
                    lost.result()
                transaction.client = other
                done(transaction)
                answer = held.result()
        assert answer.status_code in (200, 202)
        assert [output["status"] for output in done(transaction).json()["data"]["output"]] == ["success"]
        rest = hear(second, query, SPEECH)
        streamed.client = other
        assert transcript(streamed).startswith(said(listener.messages)) and said(rest)


def test_settings_of_postgresql_that_risk_data_are_named_by_readiness_and_doctor(place, server, tmp_path):
    database, _, _ = place
    assert "fsync is off" in readiness(server)["durability"]
    found = run("doctor", "--url", server.base_url, cwd=tmp_path)
    [line] = [line for line in found.stdout.splitlines() if "fsync is off" in line]
    assert line.startswith("PROBLEM") and found.returncode == 1, found.stdout
    assert "synchronous_commit is off" not in found.stdout
    database.sql("ALTER SYSTEM SET synchronous_commit = off")
    database.sql("SELECT pg_reload_conf()")
    try:
        wait_until(lambda: "synchronous_commit is off" in readiness(server)["durability"], "the server notices")
    finally:
        database.sql("ALTER SYSTEM RESET synchronous_commit")
        database.sql("SELECT pg_reload_conf()")
    wait_until(lambda: "synchronous_commit" not in readiness(server)["durability"], "the server notices")


#: An additive migration, as a later version may have one.
MIGRATION = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}' LOOP
        EXECUTE format('ALTER TABLE {schema}.%I ADD COLUMN later_column text DEFAULT ''later''', name);
    END LOOP;
    CREATE TABLE {schema}.later_table (id bigint PRIMARY KEY);
    UPDATE {schema}.schema_version SET version = 2;
END $$"""


def test_a_running_server_serves_consultations_after_a_later_version_has_migrated(place, server, tmp_path):
    database, endpoint, _ = place
    audio = recording(3)
    bodies = {"multipart": recording(200)}
    for way, visit in WAYS.items():
        visit(server, bodies.get(way, audio))
    database.sql(MIGRATION.format(schema=server.prefix))
    for _ in range(3):
        for way, visit in WAYS.items():
            visit(server, bodies.get(way, audio))
    schema = f"{database.url}?schema={server.prefix}"
    objects = f"s3://scribe/{server.prefix}?endpoint={endpoint}"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **KEYS}
    found = run("serve", "--port", "0", "--database", schema, "--objects", objects, cwd=tmp_path, env=environment)
    assert found.returncode != 0 and "later version" in found.stderr, found.stderr
