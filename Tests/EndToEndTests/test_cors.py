"""What a browser asks before it sends, and what it has to be told afterwards."""

import pytest
import requests
from emulator import PUBLIC

ORIGIN = "https://doc.eka.care"
API = "/voice/api/v2/transaction/history"
OBJECT = "/m-prod-voice-record/260510/t/1.mp3"
SENT = ["auth", "client-id", "flavour", "authorization", "content-type"]
SIGNED = ["authorization", "content-type", "x-amz-content-sha256", "x-amz-date", "x-amz-meta-bid", "x-amz-meta-txnid",
          "x-amz-security-token"]


def words(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


def preflight(server, path, method="GET", headers=(), origin=ORIGIN):
    asked = {"Origin": origin, "Access-Control-Request-Method": method}
    if headers:
        asked["Access-Control-Request-Headers"] = ",".join(headers)
    return requests.options(f"{server.base_url}{path}", headers=asked)


def assert_allowed(answer, origin=ORIGIN):
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert "origin" in words(answer.headers["Vary"])


def assert_refused(answer):
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.covers("C-110")
@pytest.mark.parametrize("path, method, headers", [
    (API, "GET", SENT),
    ("/voice/api/v2/transaction/init/t", "POST", SENT),
    ("/voice/api/v2/transaction/t", "PATCH", SENT),
    ("/voice/api/v2/transaction/t", "DELETE", SENT),
    ("/voice/api/v3/status/t", "PATCH", SENT),
    ("/voice/api/v2/config/", "PUT", SENT),
    ("/voice/api/v1/s3-token/", "GET", SENT),
    ("/v1/file-upload?txn_id=t&action=ekascribe-v2", "POST", SENT),
    ("/connect-auth/v1/account/refresh-token", "POST", SENT),
    (OBJECT, "PUT", SIGNED),
    (OBJECT, "GET", SIGNED),
])
def test_a_preflight_is_allowed_without_a_token(server, path, method, headers):
    answer = preflight(server, path, method, headers)
    assert answer.ok, answer.text
    assert_allowed(answer)
    # With credentials "*" would be a name like any other.
    assert method.lower() in words(answer.headers["Access-Control-Allow-Methods"])
    assert words(answer.headers["Access-Control-Allow-Headers"]) >= set(headers)


@pytest.mark.parametrize("header", ["x-amz-checksum-crc32", "x-amz-meta-whatever", "x-amz-acl"])
def test_a_preflight_allows_every_amz_header(server, header):
    allowed = words(preflight(server, OBJECT, "PUT", [header]).headers["Access-Control-Allow-Headers"])
    assert header in allowed


@pytest.mark.covers("C-110")
def test_a_page_can_read_answers_and_errors(server):
    client = server.client()
    client.session.headers["Origin"] = ORIGIN
    answers = [
        client.session.get(f"{server.base_url}{API}"),
        client.session.get(f"{server.base_url}/voice/api/v3/status/unknown"),
        requests.get(f"{server.base_url}{API}", headers={"Origin": ORIGIN, "auth": "nonsense"}),
        requests.get(f"{server.base_url}/voice/api/v9/nothing", headers={"Origin": ORIGIN}),
        requests.put(f"{server.base_url}{OBJECT}", headers={"Origin": ORIGIN}, data=b"x"),
        requests.post(f"{server.base_url}/connect-auth/v1/account/login", headers={"Origin": ORIGIN}, data=b"{"),
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 401, 404, 403, 400]
    for answer in answers:
        assert_allowed(answer)


def test_a_page_can_read_the_etag_of_a_stored_object(server):
    s3 = server.client().s3()
    url = s3.generate_presigned_url("put_object", {"Bucket": "m-prod-voice-record", "Key": "260510/t/1.mp3"})
    answer = requests.put(url, data=b"x", headers={"Origin": ORIGIN})
    assert answer.status_code == 200
    assert_allowed(answer)
    assert "etag" in words(answer.headers["Access-Control-Expose-Headers"])


def test_an_answer_to_a_request_without_an_origin_has_no_cors_headers(server):
    answer = server.client().session.get(f"{server.base_url}{API}")
    assert answer.status_code == 200
    assert_refused(answer)


@pytest.mark.parametrize("origin", ["https://app.example", "https://other.example"])
def test_strict_mode_allows_listed_origins(strict, origin):
    assert_allowed(preflight(strict, API, "GET", SENT, origin), origin)
    assert_allowed(preflight(strict, OBJECT, "PUT", SIGNED, origin), origin)
    assert_allowed(requests.get(f"{strict.base_url}{API}", headers={"Origin": origin}), origin)


@pytest.mark.parametrize("origin", [
    "https://evil.example", "http://app.example", "https://app.example:8443", "https://app.example.evil.example",
    "https://sub.app.example", "null", "", "https://app.example,https://other.example", "*",
])
def test_strict_mode_refuses_origins_that_are_not_listed(strict, origin):
    assert_refused(preflight(strict, API, "GET", SENT, origin))
    assert_refused(preflight(strict, OBJECT, "PUT", SIGNED, origin))
    client = strict.client()
    answer = client.session.get(f"{strict.base_url}{API}", headers={"Origin": origin})
    assert answer.status_code == 200  # what has no browser's protection to lose is served as ever
    assert_refused(answer)
    # A cache must not give this answer to a page of a listed origin.
    assert "origin" in words(answer.headers["Vary"])


def test_strict_mode_without_a_list_allows_no_origin(served):
    server = served(*PUBLIC)
    assert_refused(preflight(server, API, "GET", SENT))
    assert_refused(server.client().session.get(f"{server.base_url}{API}", headers={"Origin": ORIGIN}))
