"""Upload forms whose policies a client signs itself, and forms of the server."""

import datetime
import hashlib
import re
import urllib.parse
import uuid

import pytest
import requests
from client import BUCKET
from emulator import PATIENCE
from s3_requests import Signer, checksum

BODY = b"sent by a form"
TAG = f'"{hashlib.md5(BODY).hexdigest()}"'
HERE = {"bucket": BUCKET}
ANY_KEY = ["starts-with", "$key", "forms/"]


@pytest.fixture(scope="module")
def signer(server):
    return Signer(server)


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def s3(client):
    return client.s3()


@pytest.fixture
def key():
    """A key that no other test has."""
    return f"forms/{uuid.uuid4()}"


@pytest.fixture
def post(server):
    """Gives a function that sends a form with its fields as they are named, before the file."""
    def post(fields: dict, name="one.wav", body=BODY, kind="audio/wav", url=f"{server.base_url}/{BUCKET}"):
        files = {"file": (name, body, kind)}
        return requests.post(url, data=fields, files=files, timeout=PATIENCE, allow_redirects=False)

    return post


def error(answer) -> tuple[int, str | None]:
    """Status and S3's error code."""
    code = re.search("<Code>(.*)</Code>", answer.text)
    return answer.status_code, code and code[1]


def test_a_form_that_boto3_signs_stores_its_file(s3, server, post, key):
    form = s3.generate_presigned_post(BUCKET, key)
    answer = post(form["fields"], url=form["url"])
    assert (answer.status_code, answer.content, answer.headers["ETag"]) == (204, b"", TAG), answer.text
    assert answer.headers["Location"] == f"{server.base_url}/{BUCKET}/{key}"
    assert answer.headers["x-amz-checksum-crc64nvme"] == checksum("CRC64NVME", BODY)
    assert answer.headers["x-amz-checksum-type"] == "FULL_OBJECT"
    got = s3.get_object(Bucket=BUCKET, Key=key)
    assert (got["Body"].read(), got["ETag"]) == (BODY, TAG)


def test_a_form_that_boto3_signs_holds_to_its_conditions(s3, post, key):
    form = s3.generate_presigned_post(
        BUCKET, f"{key}/${{filename}}", {"acl": "private", "x-amz-meta-txnid": "t"},
        [{"acl": "private"}, ["starts-with", "$x-amz-meta-txnid", "t"], ["content-length-range", 3, 100]])
    fields = form["fields"]
    for changed, body, expected in [
        ({}, b"xx", (400, "EntityTooSmall")), ({}, bytes(101), (400, "EntityTooLarge")),
        ({"acl": "public-read"}, BODY, (403, "AccessDenied")), ({"x-amz-meta-txnid": "x"}, BODY, (403, "AccessDenied")),
        ({"key": "forms/elsewhere"}, BODY, (403, "AccessDenied")),
        ({"x-amz-signature": "0" * 64}, BODY, (403, "SignatureDoesNotMatch")),
    ]:
        answer = post(fields | changed, body=body, url=form["url"])
        assert error(answer) == expected, f"{changed} {answer.text}"
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET, Prefix=key)
    assert post(fields, "ü 1.wav", url=form["url"]).status_code == 204
    assert s3.head_object(Bucket=BUCKET, Key=f"{key}/ü 1.wav")["Metadata"] == {"txnid": "t"}


def test_a_condition_on_a_field_demands_the_field(signer, post, key):
    fields = signer.form(HERE, ANY_KEY, ["starts-with", "$Content-Type", ""], key=key)
    assert error(post(fields)) == (403, "AccessDenied")
    assert post(fields | {"Content-Type": "audio/x-wav"}).status_code == 204
    assert signer.send("HEAD", f"/{BUCKET}/{key}").headers["Content-Type"] == "audio/x-wav"


def test_a_policy_must_name_the_bucket(signer, post, key):
    answer = post(signer.form(ANY_KEY, key=key))
    assert error(answer) == (403, "AccessDenied") and "Extra input fields: bucket" in answer.text
    answer = post(signer.form({"bucket": "another"}, ANY_KEY, key=key))
    assert error(answer) == (403, "AccessDenied")
    assert post(signer.form(["starts-with", "$bucket", BUCKET[:4]], ANY_KEY, key=key)).status_code == 204


def test_every_field_needs_a_condition(signer, post, key):
    fields = signer.form(HERE, ANY_KEY, key=key)
    answer = post(fields | {"x-amz-meta-more": "x"})
    assert error(answer) == (403, "AccessDenied") and "Extra input fields: x-amz-meta-more" in answer.text
    assert post(fields | {"x-ignore-more": "x"}).status_code == 204


def test_a_form_is_good_until_its_policy_expires(signer, post, key):
    answer = post(signer.form(HERE, ANY_KEY, key=key, lifetime=datetime.timedelta(seconds=-1)))
    assert error(answer) == (403, "AccessDenied") and "expired" in answer.text


def test_the_file_name_is_put_in_before_conditions_are_checked(signer, post, key):
    fields = signer.form(
        HERE, {"key": f"{key}/one.wav"}, {"x-amz-meta-name": "the one.wav"}, ["eq", "$Content-Disposition", "one.wav"],
        key=f"{key}/${{filename}}")
    fields |= {"x-amz-meta-name": "the ${filename}", "Content-Disposition": "${filename}"}
    assert error(post(fields, "two.wav")) == (403, "AccessDenied")
    answer = post(fields)
    assert answer.status_code == 204, answer.text
    head = signer.send("HEAD", f"/{BUCKET}/{key}/one.wav")
    assert (head.headers["x-amz-meta-name"], head.headers["Content-Disposition"]) == ("the one.wav", "one.wav")


@pytest.mark.parametrize("field", ["success_action_redirect", "redirect"])
@pytest.mark.parametrize("query", [{}, {"a": "b c"}])
def test_an_address_for_success_is_told_what_was_stored(signer, post, key, field, query):
    key += "/ü 1&.wav"
    page = "https://app.example/done"
    wanted = f"{page}?{urllib.parse.urlencode(query)}" if query else page
    answer = post({**signer.form(HERE, ANY_KEY, ["starts-with", f"${field}", page], key=key), field: wanted})
    assert answer.status_code == 303, answer.text
    address, _, told = answer.headers["Location"].partition("?")
    assert address == page
    assert dict(urllib.parse.parse_qsl(told)) == {**query, "bucket": BUCKET, "key": key, "etag": TAG}
    assert signer.send("GET", f"/{BUCKET}/{urllib.parse.quote(key)}").content == BODY


def test_an_address_that_cannot_be_read_is_ignored(signer, post, key):
    fields = signer.form(HERE, ANY_KEY, ["starts-with", "$success_action_redirect", ""], key=key)
    answer = post(fields | {"success_action_redirect": "http://["})
    assert answer.status_code == 204, answer.text


def test_a_client_chooses_the_status_of_success(signer, server, post, key):
    fields = signer.form(HERE, ANY_KEY, ["starts-with", "$success_action_status", ""], key=key)
    for wanted, status in [("200", 200), ("201", 201), ("204", 204), ("404", 204), ("", 204)]:
        answer = post(fields | {"success_action_status": wanted})
        assert (answer.status_code, answer.headers["ETag"]) == (status, TAG), answer.text
        location = f"{server.base_url}/{BUCKET}/{key}"
        assert answer.headers["Location"] == location
        if status == 201:
            for element in (f"<Location>{location}<", f"<Bucket>{BUCKET}<", f"<Key>{key}<"):
                assert element in answer.text
        else:
            assert answer.content == b""


def test_headers_of_a_form_are_kept(signer, post, key):
    kept = {
        "Content-Type": "audio/x-wav", "Cache-Control": "max-age=3", "Content-Encoding": "identity",
        "Content-Language": "en-IN", "Content-Disposition": "inline", "Expires": "Wed, 21 Oct 2026 07:28:00 GMT",
        "x-amz-meta-txnid": "t-1",
    }
    fields = signer.form(HERE, ANY_KEY, *({name: value} for name, value in kept.items()), key=key)
    assert post(fields | kept).status_code == 204
    head = signer.send("HEAD", f"/{BUCKET}/{key}")
    assert {name: head.headers[name] for name in kept} == kept


def test_a_checksum_among_the_fields_is_checked_and_given_back(signer, post, key):
    fields = signer.form(HERE, ANY_KEY, ["starts-with", "$x-amz-checksum-sha256", ""], key=key)
    answer = post(fields | {"x-amz-checksum-sha256": checksum("SHA256", b"other")})
    assert error(answer) == (400, "BadDigest"), answer.text
    right = checksum("SHA256", BODY)
    answer = post(fields | {"x-amz-checksum-sha256": right})
    assert (answer.status_code, answer.headers.get("x-amz-checksum-sha256")) == (204, right), answer.text


@pytest.mark.parametrize("more", [
    {}, {"Content-Type": "audio/mp4"}, {"success_action_status": "201"},
    {"Content-Type": "audio/mp4", "success_action_status": "201"},
], ids=lambda more: "+".join(more) or "none")
def test_a_form_of_the_server_takes_the_fields_that_clients_add(client, server, s3, post, more):
    made = client.session.post(f"{server.base_url}/v1/file-upload?txn_id={uuid.uuid4()}").json()["uploadData"]
    answer = post({**made["fields"], **more}, url=made["url"])
    assert answer.status_code == int(more.get("success_action_status", 204)), answer.text
    key = made["fields"]["key"].replace("${filename}", "one.wav")
    bucket = urllib.parse.urlsplit(answer.headers["Location"]).path.split("/")[1]
    got = s3.get_object(Bucket=bucket, Key=key)
    assert got["Body"].read() == BODY
    assert got["ContentType"] == more.get("Content-Type", "audio/wav")
