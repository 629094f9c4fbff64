"""The upload target, judged by boto3 and by bytes on a socket."""

import hashlib
import socket
import time

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import pytest
import requests
from client import BUCKET


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def s3(client):
    return client.s3()


BODIES = [b"", b"x", bytes(range(256)) * 40, bytes(1_500_000)]


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


@pytest.mark.parametrize(
    "host", ["{bucket}.s3.ap-south-1.amazonaws.com", "{bucket}.s3-ap-south-1.amazonaws.com", "{bucket}.s3.amazonaws.com"]
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


def test_a_wrong_secret_is_refused_with_s3s_error(client, server):
    keys = client.session.get(f"{server.base_url}/voice/api/v1/s3-token/").json()["credentials"]
    s3 = boto3.client(
        "s3", endpoint_url=server.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key="wrong", aws_session_token=keys["SessionToken"],
    )
    with pytest.raises(botocore.exceptions.ClientError) as failure:
        s3.put_object(Bucket=BUCKET, Key="k", Body=b"x")
    assert failure.value.response["Error"]["Code"] == "SignatureDoesNotMatch"


def test_a_missing_key_is_no_such_key(s3):
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=BUCKET, Key="never/was")


def test_a_second_tenant_gets_nothing(s3, server):
    s3.put_object(Bucket=BUCKET, Key="260510/mine/1.m4a", Body=b"mine")
    other = server.client("dev-client-2", "dev-secret-2").s3()
    with pytest.raises(other.exceptions.NoSuchKey):
        other.get_object(Bucket=BUCKET, Key="260510/mine/1.m4a")
    other.put_object(Bucket=BUCKET, Key="260510/mine/1.m4a", Body=b"theirs")
    assert s3.get_object(Bucket=BUCKET, Key="260510/mine/1.m4a")["Body"].read() == b"mine"


def test_expect_100_continue_is_answered_at_once(s3, server):
    url = s3.generate_presigned_url("put_object", {"Bucket": BUCKET, "Key": "260510/s3/continue"})
    path = url.removeprefix(server.base_url)
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(
            f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 4\r\n"
            "Expect: 100-continue\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"body")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_hangs_up_half_way_leaves_the_old_object(s3, server):
    parameters = {"Bucket": BUCKET, "Key": "260510/s3/half"}
    s3.put_object(**parameters, Body=b"whole")
    url = s3.generate_presigned_url("put_object", parameters)
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(
                f"PUT {url.removeprefix(server.base_url)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                "Content-Length: 100000\r\n\r\n".encode() + bytes(500)
            )
            time.sleep(0.05)
    time.sleep(0.2)
    assert s3.get_object(**parameters)["Body"].read() == b"whole"


@pytest.mark.parametrize("path", ["/b/../k", "/b/%2e%2e/k", "/b/a%00b", "/b/..%2f..%2fetc", "/../../etc/passwd"])
def test_hostile_keys_are_refused(server, path):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode())
        answer = connection.recv(2000)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"<Code>InvalidURI</Code>" in answer
