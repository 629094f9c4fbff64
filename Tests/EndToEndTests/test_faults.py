"""Faults of requests, as clients see them that were told of none: what a retry must survive, and which requests a
rule is about."""

import botocore.exceptions
import faults
import pytest
import requests
import test_python_sdk
import tls
from client import BUCKET
from emulator import PATIENCE, wait_until
from faults import CONFIG, Place, aside, lost, recorded, s3_of, stored
from namespaces import AllianceClient, EkaClient, access, control, counts, eka, finished
from session_client import form_of, recording, send
from test_python_sdk import WANTED, SDKError

server, place, sdk = faults.server, faults.place, test_python_sdk.sdk
PING = "/voice/ping"
REFRESH = "/connect-auth/v1/account/refresh-token"
BEFORE = [{"when": "before", "status": 503}, {"when": "before", "connection": "reset"}]
AFTER = [{"when": "after", "status": 503}, {"when": "after", "connection": "reset"}]
moments = pytest.mark.parametrize("fault", [*BEFORE, *AFTER], ids=lambda fault: " ".join(map(str, fault.values())))
BROKEN = (botocore.exceptions.ClientError, botocore.exceptions.HTTPClientError)


def failed(fault: dict, call) -> bool:
    """Makes a call that fails. Whether it has happened all the same."""
    answer = lost(call)
    assert answer.status_code == 503 if "status" in fault else answer is None, answer
    return fault["when"] == "after"


def statuses(client: EkaClient, count: int, path=CONFIG) -> list[int]:
    return [client.get(path).status_code for _ in range(count)]


# What a retry must survive.

@moments
def test_an_init_that_the_client_repeats_creates_one_transaction(place, fault):
    client = place.eka()
    place.faults.next(operation="initTransaction", **fault)
    happened = failed(fault, client.transaction("i-1").init)
    assert client.history() == (["i-1"] if happened else [])
    assert client.transaction("i-1").init().status_code == (200 if happened else 201)
    assert client.history() == ["i-1"] and place.faults.applied == [1]


@moments
def test_a_chunk_that_the_client_uploads_again_is_recognised_once(place, fault):
    client = place.eka()
    transaction, audio = client.transaction("i-1"), recording(3)
    assert transaction.init().status_code == 201
    put = {"Bucket": BUCKET, "Key": f"{transaction.folder}/1.wav", "Body": audio}
    place.faults.next(operation="PutObject", **fault)
    with pytest.raises(BROKEN):
        s3_of(client).put_object(**put)
    there = [(put["Key"], len(audio))]
    assert stored(client) == (there if fault["when"] == "after" else [])
    s3_of(client).put_object(**put)
    assert stored(client) == there
    transaction.uploaded.append("1.wav")
    assert transaction.stop().status_code == transaction.commit().status_code == 200
    assert [document["status"] for document in finished(transaction)["output"]] == ["success"]
    assert place.faults.transaction("i-1")["user_status"] == "commit"


@moments
def test_a_commit_that_the_client_repeats_writes_one_note(place, fault):
    client = place.eka()
    transaction = recorded(client, "i-1")
    place.faults.next(operation="commitTransaction", **fault)
    happened = failed(fault, transaction.commit)
    assert place.faults.transaction("i-1")["user_status"] == ("commit" if happened else "stopped")
    assert transaction.commit().status_code == 200
    documents = finished(transaction)["output"]
    assert [document["template_id"] for document in documents] == ["transcript_template", "soap"]
    assert {document["status"] for document in documents} == {"success"}
    assert client.history() == ["i-1"]


@moments
def test_a_refresh_that_the_client_repeats_creates_one_token(place, fault):
    client = place.eka()
    body = {"refresh_token": client.tokens["refresh_token"]}

    def refresh() -> requests.Response:
        return client.session.post(f"{client.base_url}{REFRESH}", json=body, timeout=PATIENCE)

    place.faults.next(operation="refreshToken", **fault)
    failed(fault, refresh)
    again = [refresh().json() for _ in range(2)]
    assert again[0]["refresh_token"] == again[1]["refresh_token"] != body["refresh_token"]
    client.session.headers["Authorization"] = f"Bearer {again[0]['access_token']}"
    assert client.history() == [] and place.faults.applied == [1]


@moments
def test_the_last_part_of_an_upload_is_sent_again_and_is_there_once(place, fault):
    client = place.eka()
    once, where = s3_of(client), {"Bucket": BUCKET, "Key": "visit/1.wav"}
    upload = once.create_multipart_upload(**where)["UploadId"]
    pieces = [b"a" * 5_242_880, b"last"]
    place.faults.add(operation="UploadPart", nth=2, **fault)

    def send(number: int) -> dict:
        part = once.upload_part(**where, UploadId=upload, PartNumber=number, Body=pieces[number - 1])
        return {"PartNumber": number, "ETag": part["ETag"]}

    def numbers() -> list[int]:
        return [part["PartNumber"] for part in once.list_parts(**where, UploadId=upload)["Parts"]]

    first = send(1)
    with pytest.raises(BROKEN):
        send(2)
    assert numbers() == ([1, 2] if fault["when"] == "after" else [1])
    parts = [first, send(2)]
    assert numbers() == [1, 2]
    once.complete_multipart_upload(**where, UploadId=upload, MultipartUpload={"Parts": parts})
    assert stored(client) == [("visit/1.wav", 5_242_884)]
    assert once.get_object(**where, Range="bytes=5242879-")["Body"].read() == b"alast"


def test_boto3_repeats_slow_and_lost_requests_by_itself(place):
    client = place.eka()
    with pytest.raises(botocore.exceptions.ClientError) as refused:
        place.faults.next(operation="PutObject", code="SlowDown")
        s3_of(client).put_object(Bucket=BUCKET, Key="a", Body=b"x")
    assert refused.value.response["Error"]["Code"] == "SlowDown"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503 and stored(client) == []
    patient = s3_of(client, attempts=3)
    place.faults.next(operation="PutObject", code="SlowDown")
    assert patient.put_object(Bucket=BUCKET, Key="a", Body=b"x")["ResponseMetadata"]["RetryAttempts"] == 1
    place.faults.next(operation="PutObject", connection="reset", when="after")
    assert patient.put_object(Bucket=BUCKET, Key="a", Body=b"xy")["ResponseMetadata"]["RetryAttempts"] == 1
    assert stored(client) == [("a", 2)] and place.faults.applied == [1, 1, 1]


def test_the_python_sdk_fails_and_succeeds_when_it_is_called_again(place, sdk, tmp_path):
    (tmp_path / "visit.wav").write_bytes(recording(3))
    inside, names = place.inside, []
    client = sdk(client_id=inside.client, client_secret=inside.secret)
    tries = [("initTransaction", BEFORE[0]), ("initTransaction", BEFORE[1]), ("createUploadForm", AFTER[0])]
    for operation, fault in tries:
        names.append(f"v-{len(names)}")
        place.faults.next(operation=operation, **fault)
        visit = {
            "file_paths": [str(tmp_path / "visit.wav")], "txn_id": names[-1], "action": "ekascribe-v2",
            "output_format": WANTED}
        with pytest.raises(SDKError):
            client.call("v2rx.upload", **visit)
        assert sorted(place.eka().history()) == names[:-1]
        assert len(client.call("v2rx.upload", **visit)) == 1
        assert sorted(place.eka().history()) == names
        assert [each["status"] for each in client.result(names[-1])["output"]] == ["success", "success"]
    assert place.faults.applied == [1] * len(tries)


@moments
def test_a_form_is_sent_again_and_the_file_is_there_once(server, place, fault):
    client = AllianceClient(access(server, place.made, "prefix"))
    _, form = form_of(client)
    place.faults.next(operation="PostObject", **fault)
    happened = failed(fault, lambda: send(form, "1.wav", recording(1)))
    assert counts(server, place.inside.name)["objects"] == happened
    assert send(form, "1.wav", recording(1)).status_code == 204
    assert counts(server, place.inside.name)["objects"] == 1


def test_a_form_of_a_client_of_the_namespace_is_refused_as_well(server, place):
    """Its fields name the namespace, and not its URL."""
    _, form = form_of(AllianceClient(place.inside))
    place.faults.next(operation="PostObject", status=503)
    assert send(form, "1.wav", recording(1)).status_code == 503
    assert counts(server, place.inside.name)["objects"] == 0


# Which requests a rule is about.

def test_a_rule_applies_to_the_nth_to_every_nth_or_to_the_first_requests(place):
    client, rules = place.eka(), place.faults
    rules.add(operation="readConfig", nth=3, status=503)
    assert statuses(client, 5) == [200, 200, 503, 200, 200]
    rules.clear()
    rules.add(operation="readConfig", every=2, status=503, times=2)
    assert statuses(client, 7) == [200, 503, 200, 503, 200, 200, 200]
    rules.clear()
    rules.add(operation="readConfig", times=2, status=503)
    assert statuses(client, 3) == [503, 503, 200]
    [rule] = rules.rules
    assert (rule["matched"], rule["applied"]) == (2, 2)
    assert rules.change(rule["id"], times=1)["applied"] == 2 and statuses(client, 2) == [503, 200]
    rules.add(id="second", operation="readConfig", status=500)
    for is_on, status in ((False, 200), (True, 500)):
        rules.change("second", is_on=is_on)
        assert statuses(client, 1) == [status]
    assert rules.call("DELETE", "faults/second").status_code == 204 and statuses(client, 1) == [200]


def test_a_request_that_one_rule_does_not_match_reaches_the_next_rule(place):
    place.faults.add(operation="readConfig", nth=2, status=501)
    place.faults.next(operation="readConfig", status=502)
    place.faults.add(method="GET", path="/voice/*", every=2, status=503)
    assert statuses(place.eka(), 4) == [502, 501, 200, 503]


def test_probability_rules_apply_alike_in_namespaces_with_one_seed_value(server):
    def drawn(seed: str | None) -> list[int]:
        place = Place(server, **({"seed_value": seed} if seed else {}))
        place.faults.add(operation="readConfig", probability=0.5, status=503)
        return statuses(place.eka("prefix"), 40)

    first, second, other = drawn("seven"), drawn("seven"), drawn("eight")
    assert first == second != other and set(first) == {200, 503}


def test_a_limit_counts_each_client_for_itself(server, place):
    mine, other, elsewhere = place.eka(), place.eka("prefix"), Place(server).eka()
    place.faults.add(operation="readConfig", limit="2/1h")
    assert statuses(mine, 2) == [200, 200]
    refused = mine.get(CONFIG)
    assert refused.status_code == 429 and 1 <= int(refused.headers["Retry-After"]) <= 1800
    eka(refused)
    assert statuses(other, 3) == [200, 200, 429] and statuses(elsewhere, 3) == [200] * 3 and mine.history() == []
    assert statuses(mine, 1) == [429] and place.faults.applied == [3]


@pytest.mark.parametrize("condition", ["client", "business"])
def test_only_one_client_or_business_fails(place, condition):
    mine, other = place.eka(), place.eka("prefix")
    account = mine.get("/connect-auth/v1/account/whoami").json()
    name = place.inside.client if condition == "client" else account["workspace_id"]
    place.faults.add(operation="readConfig", status=503, **{condition: name})
    assert (statuses(mine, 2), statuses(other, 2)) == ([503, 503], [200, 200])


def test_only_one_transaction_header_or_path_fails(place):
    client, rules = place.eka(), place.faults
    for id in ("i-1", "i-2"):
        client.transaction(id).init()
    rules.add(transaction="i-1", status=503)
    assert statuses(client, 1, "/voice/api/v2/transaction/i-1") == [503]
    assert statuses(client, 1, "/voice/api/v1/documents?session_id=i-1") == [503]
    assert statuses(client, 1, "/voice/api/v2/transaction/i-2") == [200]
    rules.clear()
    rules.add(header="User-Agent: *Alamofire*", status=503)
    assert statuses(client, 1) == [200]
    client.session.headers["User-Agent"] = "Scribe/1 Alamofire/5.9"
    assert statuses(client, 1) == [503]
    rules.clear()
    rules.add(path="/voice/*/transaction/i-*", status=503)
    assert statuses(client, 1, "/voice/api/v2/transaction/i-2") == [503] and statuses(client, 1) == [200]
    assert statuses(place.eka("prefix"), 1, "/voice/api/v2/transaction/i-2") == [503]
    rules.clear()
    rules.add(method="PUT", status=503)
    assert statuses(client, 1) == [200] and client.session.put(client.base_url + CONFIG, json={}).status_code == 503


def test_rules_are_of_one_namespace_and_not_of_the_operators_own_calls(server, place):
    place.faults.add(status=503)
    assert statuses(Place(server).eka(), 1) == [200]
    for path in (PING, "/livez", "/readyz", "/metrics"):
        assert requests.get(f"{server.base_url}{path}", timeout=PATIENCE).status_code == 200
    assert requests.get(f"{server.base_url}/ns/{place.inside.name}{PING}", timeout=PATIENCE).status_code == 503
    assert control(server, "POST", "reset", params=place.faults.query).status_code == 200
    assert place.faults.rules == [] and statuses(place.eka(), 1) == [200]


# Delays by the namespace's clock.

@pytest.mark.parametrize("when, effect", [
    ("before", {}), ("after", {}), ("before", {"status": 503}), ("after", {"connection": "reset"})])
def test_a_request_is_held_until_the_namespaces_clock_moves(place, when, effect):
    client = place.eka()
    place.faults.freeze()
    place.faults.next(operation="initTransaction", when=when, delay="2h", clock="world", **effect)
    with aside(client.transaction("i-1").init) as results:
        wait_until(lambda: "fault" in place.faults.waiting(), "the request is held")
        assert client.history() == (["i-1"] if when == "after" else [])
        place.faults.advance("119m")
        assert "fault" in place.faults.waiting() and not results
        place.faults.advance("1m")
    if effect.get("connection"):
        assert isinstance(results[0], requests.exceptions.ConnectionError)
    else:
        assert results[0].status_code == effect.get("status", 201)
    assert client.history() == ([] if "status" in effect else ["i-1"])


def test_a_held_request_ends_when_its_client_leaves(server, place):
    place.faults.freeze()
    place.faults.add(operation="ping", delay="2h", clock="world")
    with tls.plain(server, PATIENCE) as connection:
        connection.sendall(f"GET /ns/{place.inside.name}{PING} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        wait_until(lambda: "fault" in place.faults.waiting(), "the request is held")
    wait_until(lambda: "fault" not in place.faults.waiting(), "nobody waits any more")
