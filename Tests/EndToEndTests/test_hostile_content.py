"""Hostile policies, forms, tokens and JSON: each gets a clear answer, and the next request is served."""

import base64
import hashlib
import hmac

import pytest
import requests
from emulator import PATIENCE

LOGIN = "/connect-auth/v1/account/login"


def test_deeply_nested_policies_delay_no_other_client(server):
    keys = server.client().session.get(f"{server.base_url}/credentials").json()["credentials"]
    policy = base64.b64encode(b'{"expiration":"2030-01-01T00:00:00Z","conditions":[' + b"[" * 500 + b"]" * 500 + b"]}")
    day = "20260510"
    key = f"AWS4{keys['SecretKey']}".encode()
    for part in (day, "ap-south-1", "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    fields = {
        "key": "a", "policy": policy.decode(), "x-amz-algorithm": "AWS4-HMAC-SHA256",
        "x-amz-credential": f"{keys['AccessKeyId']}/{day}/ap-south-1/s3/aws4_request",
        "x-amz-security-token": keys["SessionToken"],
        "x-amz-signature": hmac.new(key, policy, hashlib.sha256).hexdigest(),
    }
    answer = requests.post(f"{server.base_url}/bucket", data=fields, files={"file": b"x"}, timeout=PATIENCE)
    assert answer.status_code == 400 and "InvalidPolicyDocument" in answer.text


def test_a_form_of_names_alone_is_refused(server):
    def parts():
        for number in range(200):
            yield f'--b\r\nContent-Disposition: form-data; name="{number}{"n" * 1000}"\r\n\r\n\r\n'.encode()

    answer = requests.post(
        f"{server.base_url}/bucket", data=parts(), headers={"content-type": "multipart/form-data; boundary=b"},
        timeout=PATIENCE)
    assert answer.status_code == 400 and "MaxPostPreDataLengthExceeded" in answer.text


def token(header: bytes, claims: bytes = b"{}") -> str:
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (header, claims)) + "."


@pytest.mark.parametrize(
    "header, claims",
    [
        (b'{"alg":"HS256","x":1e300}', b"{}"), (b'{"alg":"HS256"}', b'{"iss":1e300,"exp":-1e300}'),
        (b'{"alg":"HS256","kid":"scribe-emulator"}',
         b'{"iss":"scribe-emulator","exp":1e300,"iat":-9223372036854775808}'),
        (b'{"a":' * 400 + b"1" + b"}" * 400, b"{}"), (b"[]", b"{}"), (b"", b""), (b"\xff\xfe{\x00}\x00", b"{}"),
        (b'{"alg":{"x":[1e300]}}', b"[]"),
    ],
)
def test_tokens_of_any_kind_end_no_process(server, header, claims):
    for name, value in [("Authorization", f"Bearer {token(header, claims)}"), ("auth", token(header, claims))]:
        answer = requests.get(f"{server.base_url}/voice/api/v2/config", headers={name: value})
        assert answer.status_code in (200, 401)
    assert requests.get(f"{server.base_url}/livez").status_code == 200


@pytest.mark.parametrize("zone", [
    "GMT+10:/5", "GMT-10:/5", "UTC+05./0", "GMT+99", "GMT+1/5", "../../etc/passwd", "A" * 60_000])
def test_invalid_time_zones_are_refused(server, zone):
    session = server.client().session
    assert session.get(f"{server.base_url}/voice/api/v2/config", params={"timezone": zone}).status_code == 400


def test_keys_of_many_combining_marks_are_refused(server):
    marks = "\u0301\u0327" * 200_000
    for body in (f'{{"{marks}":1}}', '{"' + "\\u0301\\u0327" * 80_000 + '":1}'):
        answer = requests.post(f"{server.base_url}{LOGIN}", data=body.encode()[: 8 << 10] + b'":1}')
        assert answer.status_code == 400
    session = server.client().session
    answer = session.post(f"{server.base_url}/voice/api/v2/transaction/init/marks", data=f'{{"{marks}":1}}'.encode())
    assert answer.status_code == 400 and "combining marks" in answer.text


@pytest.mark.parametrize(
    "body",
    [
        b'{"transfer":"vaded","s3_url":"s3://b/f","patient_details":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
        b'{"transfer":"vaded","s3_url":"s3://b/f","patient_details":{"age":1e999}}',
        b'{"transfer":"vaded","s3_url":"s3://b/f","patient_details":{"age":123456789012345678901234567890}}',
        b'{"transfer":"vaded","s3_url":"s3://b/f","mode":"\xff\xfe"}',
        b'{"transfer":"vaded","s3_url":"s3://b/f","mode":"\\ud800"}',
        b'{"transfer":"vaded","transfer":"stream"}',
    ],
)
def test_hostile_json_is_400_or_accepted_and_never_500(server, body):
    client = server.client()
    answer = client.session.post(f"{server.base_url}/voice/api/v2/transaction/init/hostile-{hash(body)}", data=body)
    assert answer.status_code in (201, 400), answer.text
    assert client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").status_code == 200
