"""S3 signatures and checksums, over boto3 and by hand."""

import base64
import hashlib
import random
import socket

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import pytest
import requests
from client import BUCKET
from emulator import PATIENCE


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def s3(client):
    return client.s3()


BODIES = [b"", b"x", bytes(range(256)) * 40, bytes(1_500_000)]


@pytest.mark.covers("C-73")
@pytest.mark.parametrize("body", BODIES, ids=len)
def test_put_get_and_head_agree(s3, body):
    key = f"260510/s3/{len(body)}.wav"
    put = s3.put_object(Bucket=BUCKET, Key=key, Body=body, ContentType="audio/wav", Metadata={"bid": "", "txnid": "t"})
    etag = f'"{hashlib.md5(body).hexdigest()}"'
    assert put["ETag"] == etag
    got = s3.get_object(Bucket=BUCKET, Key=key)
    assert got["Body"].read() == body
    assert (got["ETag"], got["ContentType"], got["Metadata"]) == (etag, "audio/wav", {"bid": "", "txnid": "t"})
    assert s3.head_object(Bucket=BUCKET, Key=key)["ContentLength"] == len(body)


@pytest.mark.parametrize("key", ["a b/ü (1)+~.m4a", "plus+and%20percent", "x'*!()@:&=$,;?#[]", "日本/語.wav", "a//b"])
def test_keys_of_every_spelling_are_signed_alike(s3, key):
    s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())
    assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == key.encode()


@pytest.mark.covers("C-69")
def test_presigned_urls_work_for_reading_and_writing(s3):
    parameters = {"Bucket": BUCKET, "Key": "260510/s3/presigned.m4a"}
    url = s3.generate_presigned_url("put_object", {**parameters, "ContentType": "audio/mp4"}, ExpiresIn=3000)
    answer = requests.put(url, data=b"presigned", headers={"Content-Type": "audio/mp4"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"]
    assert requests.get(s3.generate_presigned_url("get_object", parameters)).content == b"presigned"
    assert requests.put(url.replace("presigned.m4a", "other.m4a"), data=b"x").status_code == 403


def test_an_unsigned_payload_is_accepted(client, server):
    s3 = client.s3(s3={"payload_signing_enabled": False}, request_checksum_calculation="when_required")
    s3.put_object(Bucket=BUCKET, Key="260510/s3/unsigned", Body=b"unsigned")
    assert s3.get_object(Bucket=BUCKET, Key="260510/s3/unsigned")["Body"].read() == b"unsigned"


@pytest.mark.covers("C-69", "C-71")
@pytest.mark.parametrize(
    "host",
    ["{bucket}.s3.ap-south-1.amazonaws.com", "{bucket}.s3-ap-south-1.amazonaws.com", "{bucket}.s3.amazonaws.com"]
)
def test_virtual_host_style_is_verified_against_the_received_host(client, server, host):
    """What iOS and Android send through a changed DNS: the bucket is in the host, and the host is signed."""
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    credentials = botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])
    host = host.format(bucket=BUCKET)
    # The query signer takes no body: what it signs is UNSIGNED-PAYLOAD.
    for sign, body in ((botocore.auth.S3SigV4Auth, b"virtual"), (botocore.auth.S3SigV4QueryAuth, None)):
        request = botocore.awsrequest.AWSRequest(
            "PUT", f"https://{host}/260510/vhost/1.m4a", data=body, headers={"x-amz-meta-txnid": "vhost"}
        )
        request.context["signing"] = {"bucket": BUCKET}
        request.context["client_config"] = botocore.config.Config(s3={"payload_signing_enabled": False})
        sign(credentials, "s3", "ap-south-1").add_auth(request)
        local = request.url.replace(f"https://{host}", server.base_url)
        answer = requests.put(local, data=b"virtual", headers={**request.headers, "Host": host})
        assert answer.status_code == 200, answer.text
        other = requests.put(local, data=b"virtual", headers={**request.headers, "Host": "other" + host})
        assert other.status_code == 403
    head = requests.head(f"{server.base_url}/", headers={"Host": f"{BUCKET}.s3-us-west-1.amazonaws.com"})
    assert (head.status_code, head.headers["x-amz-bucket-region"]) == (200, "ap-south-1")
    assert client.s3().get_object(Bucket=BUCKET, Key="260510/vhost/1.m4a")["Body"].read() == b"virtual"


@pytest.mark.covers("C-59")
def test_a_wrong_secret_is_refused_with_s3s_error(client, server):
    keys = client.session.get(f"{server.base_url}/voice/api/v1/s3-token/").json()["credentials"]
    s3 = boto3.client(
        "s3", endpoint_url=server.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key="wrong", aws_session_token=keys["SessionToken"],
    )
    with pytest.raises(botocore.exceptions.ClientError) as failure:
        s3.put_object(Bucket=BUCKET, Key="k", Body=b"x")
    assert failure.value.response["Error"]["Code"] == "SignatureDoesNotMatch"


def test_a_second_tenant_cannot_read_an_object(s3, server):
    s3.put_object(Bucket=BUCKET, Key="260510/mine/1.m4a", Body=b"mine")
    other = server.client("dev-client-2", "dev-secret-2").s3()
    with pytest.raises(other.exceptions.NoSuchKey):
        other.get_object(Bucket=BUCKET, Key="260510/mine/1.m4a")
    other.put_object(Bucket=BUCKET, Key="260510/mine/1.m4a", Body=b"theirs")
    assert s3.get_object(Bucket=BUCKET, Key="260510/mine/1.m4a")["Body"].read() == b"mine"


@pytest.mark.parametrize("path", ["/b/../k", "/b/%2e%2e/k", "/b/a%00b", "/b/..%2f..%2fetc", "/../../etc/passwd"])
def test_hostile_keys_are_refused(server, path):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode())
        answer = connection.recv(2000)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"<Code>InvalidURI</Code>" in answer


ALGORITHMS = ["CRC32", "SHA1", "SHA256"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_checksum_headers_are_checked(s3, algorithm):
    where = {"Bucket": BUCKET, "Key": "260510/s3/checksum"}
    answer = s3.put_object(**where, Body=b"checked", ChecksumAlgorithm=algorithm)
    assert answer[f"Checksum{algorithm}"]
    wrong = base64.b64encode(base64.b64decode(answer[f"Checksum{algorithm}"])[::-1]).decode()
    with pytest.raises(botocore.exceptions.ClientError, match="BadDigest"):
        s3.put_object(**where, Body=b"checked", **{f"Checksum{algorithm}": wrong})
    assert s3.get_object(**where)["Body"].read() == b"checked"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("size", [0, 1, 100_000, 3_000_000])
def test_trailing_checksums_over_tls_are_decoded_and_checked(client, server, algorithm, size):
    """boto3 sends its checksums as trailers of a chunked body where the connection is encrypted."""
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    s3 = boto3.client(
        "s3", endpoint_url=f"https://localhost:{server.tls_port}", verify=server.authority, region_name="ap-south-1",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"],
    )
    modes = []
    s3.meta.events.register(
        "before-send.s3.PutObject", lambda request, **_: modes.append(request.headers["x-amz-content-sha256"]))
    body = random.Random(size).randbytes(size)
    where = {"Bucket": BUCKET, "Key": f"260510/s3/trailer-{algorithm}-{size}"}
    s3.put_object(**where, Body=body, ChecksumAlgorithm=algorithm)
    # One request, with the header's value as the bytes that botocore sends.
    assert modes == [b"STREAMING-UNSIGNED-PAYLOAD-TRAILER"]
    assert s3.get_object(**where)["Body"].read() == body


@pytest.mark.parametrize("method, path", [
    ("GET", "/b/k"), ("DELETE", "/b/k"), ("POST", "/b/k?uploads="), ("GET", "/b")])
def test_a_declared_payload_is_that_of_the_body_for_every_verb(server, method, path):
    keys = server.client().session.get(f"{server.base_url}/credentials").json()["credentials"]
    credentials = botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])
    for declared, status in [(hashlib.sha256(b"").hexdigest(), None), (hashlib.sha256(b"other").hexdigest(), 400)]:
        request = botocore.awsrequest.AWSRequest(method, f"{server.base_url}{path}", data=b"")
        request.headers["X-Amz-Content-SHA256"] = declared
        signer = botocore.auth.S3SigV4Auth(credentials, "s3", "ap-south-1")
        signer.payload = lambda _, declared=declared: declared
        signer.add_auth(request)
        answer = requests.request(method, request.url, headers=dict(request.headers))
        if status:
            assert answer.status_code == status and "XAmzContentSHA256Mismatch" in answer.text, answer.text
        else:
            assert answer.status_code in (200, 204, 404), answer.text
