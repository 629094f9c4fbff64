"""S3 checksums: which are given back, which are refused, and those of whole multipart uploads."""

import functools
import random
import uuid

import boto3.s3.transfer
import pytest
import requests
from client import BUCKET
from emulator import PATIENCE
from s3_requests import DIGESTS, Multipart, Signer, base64ed, checksum, composite, header

MB = 1 << 20
BODY = bytes(range(256)) * 9
MODE = {"x-amz-checksum-mode": "ENABLED"}
#: Of a multipart upload that names the algorithm alone.
TYPES = {
    "CRC32": "COMPOSITE", "CRC32C": "COMPOSITE", "CRC64NVME": "FULL_OBJECT", "SHA1": "COMPOSITE",
    "SHA256": "COMPOSITE", "SHA512": "COMPOSITE", "MD5": "COMPOSITE",
}
OTHER = {name: checksum(name, b"other") for name in DIGESTS}


@pytest.fixture(scope="module")
def signer(server):
    return Signer(server)


@pytest.fixture(scope="module")
def s3(server):
    return server.client().s3()


@pytest.fixture
def key():
    """A key that no other test has."""
    return f"260510/checksums/{uuid.uuid4()}"


@pytest.fixture
def target(key):
    return f"/{BUCKET}/{key}"


@functools.cache
def two_parts() -> tuple[bytes, bytes]:
    return random.Random(1).randbytes(5 * MB), b"the end"


@functools.cache
def whole(algorithm: str) -> str:
    return checksum(algorithm, b"".join(two_parts()))


def checksums(answer) -> dict[str, str]:
    """Checksum headers of an answer, by what follows `x-amz-checksum-`."""
    prefix = "x-amz-checksum-"
    return {
        name.lower().removeprefix(prefix): value
        for name, value in answer.headers.items() if name.lower().startswith(prefix)}


def expected(algorithm: str, value: str, kind="FULL_OBJECT") -> dict[str, str]:
    return {algorithm.lower(): value, "type": kind}


def nothing_is_stored(signer, target) -> bool:
    return signer.send("HEAD", target).status == 404


def listed(number: int, answer, **more: str) -> dict:
    """A part as CompleteMultipartUpload lists it."""
    return {"PartNumber": number, "ETag": answer.headers["ETag"], **more}


@pytest.mark.parametrize("algorithm", DIGESTS)
def test_a_put_gives_its_checksum_back_and_so_do_reads_that_ask(signer, target, algorithm):
    given = expected(algorithm, checksum(algorithm, BODY))
    answer = signer.send("PUT", target, BODY, {header(algorithm): given[algorithm.lower()]})
    assert (answer.status, checksums(answer)) == (200, given), answer.text
    for method in ("HEAD", "GET"):
        assert checksums(signer.send(method, target, headers=MODE)) == given
        assert checksums(signer.send(method, target)) == {}, "it was not asked for"


def test_a_put_without_a_checksum_has_crc64nvme(signer, target):
    given = expected("CRC64NVME", checksum("CRC64NVME", BODY))
    answer = signer.put(target, BODY)
    assert (answer.status, checksums(answer)) == (200, given), answer.text
    assert checksums(signer.send("GET", target, headers=MODE)) == given


def test_content_md5_is_no_checksum_that_is_given_back(signer, target):
    answer = signer.put(target, BODY, content_md5=checksum("MD5", BODY))
    assert checksums(answer) == expected("CRC64NVME", checksum("CRC64NVME", BODY))


def test_a_range_has_no_checksum_of_the_whole(signer, s3, key, target):
    """SDKs compare the checksum with what they read."""
    s3.put_object(Bucket=BUCKET, Key=key, Body=BODY)
    answer = signer.send("GET", target, headers={**MODE, "Range": "bytes=3-8"})
    assert (answer.status, checksums(answer)) == (206, {})
    got = s3.get_object(Bucket=BUCKET, Key=key, Range="bytes=3-8", ChecksumMode="ENABLED")
    assert got["Body"].read() == BODY[3:9]


@pytest.mark.parametrize("algorithm", DIGESTS)
def test_a_wrong_checksum_is_a_bad_digest(signer, target, algorithm):
    answer = signer.send("PUT", target, BODY, {header(algorithm): OTHER[algorithm]})
    assert answer.error == (400, "BadDigest"), answer.text
    trailer = f"{header(algorithm)}:{OTHER[algorithm]}"
    answer = signer.put_with_trailers(target, BODY, trailer, announced=header(algorithm))
    assert answer.error == (400, "BadDigest"), answer.text
    assert nothing_is_stored(signer, target)


@pytest.mark.parametrize("algorithm", DIGESTS)
def test_a_checksum_in_a_trailer_is_given_back(signer, target, algorithm):
    given = expected(algorithm, checksum(algorithm, BODY))
    answer = signer.put_with_trailers(
        target, BODY, f"{header(algorithm)}:{given[algorithm.lower()]}", announced=header(algorithm),
        headers={"content-encoding": "aws-chunked", "x-amz-sdk-checksum-algorithm": algorithm})
    assert (answer.status, checksums(answer)) == (200, given), answer.text
    read = signer.send("GET", target, headers=MODE)
    assert (read.content, checksums(read)) == (BODY, given)


@pytest.mark.parametrize("headers", [
    {header("CRC32"): checksum("CRC32", BODY), header("SHA256"): checksum("SHA256", BODY)},
    {header("CRC32"): "not base64"}, {header("CRC32"): checksum("SHA1", BODY)}, {header("SHA256"): ""},
    {"x-amz-sdk-checksum-algorithm": "CRC32"},
], ids=["several", "no-base64", "another-length", "empty", "no-value"])
def test_checksum_headers_that_make_no_sense_are_refused(signer, target, headers):
    answer = signer.send("PUT", target, BODY, headers)
    assert answer.error == (400, "InvalidRequest"), answer.text
    assert nothing_is_stored(signer, target)


def test_a_checksum_comes_in_a_header_or_in_a_trailer_and_not_in_both(signer, target):
    value = checksum("CRC32", BODY)
    answer = signer.put_with_trailers(
        target, BODY, f"{header('CRC32')}:{value}", announced=header("CRC32"), headers={header("CRC32"): value})
    assert answer.error == (400, "InvalidRequest"), answer.text
    assert nothing_is_stored(signer, target)


def test_a_trailer_comes_once(signer, target):
    trailer = f"{header('CRC32')}:{checksum('CRC32', BODY)}"
    answer = signer.put_with_trailers(target, BODY, trailer, trailer, announced=header("CRC32"))
    assert answer.error == (400, "MalformedTrailerError"), answer.text


def test_a_trailer_that_was_announced_must_come(signer, target):
    answer = signer.put_with_trailers(target, BODY, announced=header("CRC32"))
    assert answer.error == (400, "MalformedTrailerError"), answer.text
    assert nothing_is_stored(signer, target)


@pytest.mark.parametrize("algorithm", ["xxhash64", "xxhash3", "xxhash128"])
def test_checksums_that_are_not_computed_are_refused_by_name(signer, target, algorithm):
    answer = signer.send("PUT", target, BODY, {f"x-amz-checksum-{algorithm}": base64ed(bytes(8))})
    assert answer.error == (501, "NotImplemented"), answer.text
    assert algorithm in answer.value("Message").lower()
    assert nothing_is_stored(signer, target)


def test_a_checksum_in_a_presigned_query_is_of_no_body_and_ignored(signer, target):
    """SDKs presign the checksum of an empty body."""
    query = "x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32"
    url = signer.server.base_url + signer.presigned("PUT", f"{target}?{query}")
    assert requests.put(url, data=BODY, timeout=PATIENCE).status_code == 200
    assert signer.send("GET", target).content == BODY
    assert requests.put(url.replace("AAAAAA", "AAAAAB"), data=BODY, timeout=PATIENCE).status_code == 403


def test_a_checksum_that_a_presigned_url_demands_is_checked(signer, target):
    for value, status in [(OTHER["CRC32"], 400), (checksum("CRC32", BODY), 200)]:
        headers = {header("CRC32"): value}
        url = signer.server.base_url + signer.presigned("PUT", target, headers)
        answer = requests.put(url, data=BODY, headers=headers, timeout=PATIENCE)
        assert answer.status_code == status, answer.text
        assert status == 200 or "<Code>BadDigest</Code>" in answer.text
        without = requests.put(url, data=BODY, timeout=PATIENCE)
        assert without.status_code == 403, "the header is signed"


@pytest.mark.parametrize("algorithm, kind", [*TYPES.items(), (None, "FULL_OBJECT")])
def test_a_multipart_upload_says_how_it_will_be_checked(signer, target, algorithm, kind):
    upload = Multipart(signer, target, **({"x_amz_checksum_algorithm": algorithm} if algorithm else {}))
    assert upload.created.status == 200, upload.created.text
    assert checksums(upload.created) == {"algorithm": algorithm or "CRC64NVME", "type": kind}


@pytest.mark.parametrize("algorithm, kind, is_allowed", [
    ("CRC64NVME", "COMPOSITE", False), ("SHA1", "FULL_OBJECT", False), ("SHA256", "FULL_OBJECT", False),
    ("CRC64NVME", "FULL_OBJECT", True), ("CRC32", "FULL_OBJECT", True), ("CRC32C", "FULL_OBJECT", True),
    ("SHA256", "COMPOSITE", True),
])
def test_only_sums_that_add_up_are_of_whole_objects(signer, target, algorithm, kind, is_allowed):
    created = Multipart(signer, target, x_amz_checksum_algorithm=algorithm, x_amz_checksum_type=kind).created
    if is_allowed:
        assert checksums(created) == {"algorithm": algorithm, "type": kind}, created.text
    else:
        assert created.error == (400, "InvalidRequest"), created.text


@pytest.mark.parametrize("algorithm, kind", [
    *((name, kind) for name, kind in TYPES.items() if kind == "COMPOSITE"),
    ("CRC32", "FULL_OBJECT"), ("CRC32C", "FULL_OBJECT"), ("CRC64NVME", "FULL_OBJECT"),
])
def test_a_multipart_upload_has_the_checksum_of_its_kind(signer, target, algorithm, kind):
    # Two parts where the sums are added up. A checksum of checksums does as well with small ones.
    bodies = two_parts() if kind == "FULL_OBJECT" else (BODY,)
    upload = Multipart(signer, target, x_amz_checksum_algorithm=algorithm, x_amz_checksum_type=kind)
    parts = []
    for number, body in enumerate(bodies, 1):
        value = checksum(algorithm, body)
        answer = upload.part(number, body, {header(algorithm): value})
        assert (answer.status, checksums(answer)[algorithm.lower()]) == (200, value), answer.text
        parts.append(listed(number, answer, **{f"Checksum{algorithm}": value}))
    value = whole(algorithm) if kind == "FULL_OBJECT" else composite(algorithm, *bodies)
    done = upload.complete(*parts, headers={"x-amz-checksum-type": kind})
    assert done.status == 200, done.text
    assert (done.value(f"Checksum{algorithm}"), done.value("ChecksumType")) == (value, kind)
    assert checksums(signer.send("HEAD", target, headers=MODE)) == expected(algorithm, value, kind)
    assert checksums(signer.send("HEAD", target)) == {}


def test_an_upload_that_named_no_algorithm_has_crc64nvme_of_the_whole(signer, target):
    """What rclone, s3cmd, minio and S3-to-S3 copies of the AWS CLI send."""
    upload = Multipart(signer, target)
    parts = [listed(number, upload.part(number, body)) for number, body in enumerate(two_parts(), 1)]
    done = upload.complete(*parts)
    given = expected("CRC64NVME", whole("CRC64NVME"))
    assert (done.status, done.value("ChecksumCRC64NVME"), done.value("ChecksumType")) == (
        200, given["crc64nvme"], "FULL_OBJECT"), done.text
    assert checksums(signer.send("HEAD", target, headers=MODE)) == given


def test_parts_with_any_checksum_go_into_an_upload_that_named_no_algorithm(s3, key):
    """What boto3 sends by default: no algorithm when it creates the upload, and the CRC32 of each part."""
    where = {"Bucket": BUCKET, "Key": key}
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    tag = s3.upload_part(**upload, PartNumber=1, Body=BODY)["ETag"]
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})
    assert s3.get_object(**where)["Body"].read() == BODY
    head = s3.head_object(**where, ChecksumMode="ENABLED")
    assert (head["ChecksumCRC64NVME"], head["ChecksumType"]) == (checksum("CRC64NVME", BODY), "FULL_OBJECT")


def test_a_part_has_the_algorithm_that_its_upload_named(signer, target):
    upload = Multipart(signer, target, x_amz_checksum_algorithm="SHA256")
    answer = upload.part(1, BODY, {header("CRC32"): checksum("CRC32", BODY)})
    assert answer.error == (400, "InvalidRequest"), answer.text
    answer = upload.part(1, BODY, {header("SHA256"): OTHER["SHA256"]})
    assert answer.error == (400, "BadDigest"), answer.text
    parts = signer.send("GET", f"{target}?uploadId={upload.id}")
    assert (parts.status, parts.all("PartNumber")) == (200, []), parts.text


def test_what_does_not_fit_an_upload_does_not_complete_it(signer, target):
    upload = Multipart(signer, target, x_amz_checksum_algorithm="CRC32", x_amz_checksum_type="FULL_OBJECT")
    value = checksum("CRC32", BODY)
    part = listed(1, upload.part(1, BODY, {header("CRC32"): value}))
    right, wrong = part | {"ChecksumCRC32": value}, part | {"ChecksumCRC32": OTHER["CRC32"]}
    size = str(len(BODY))
    for listing, headers, code in [
        (right, {"x-amz-checksum-type": "COMPOSITE"}, "InvalidRequest"),
        (wrong, {}, "InvalidPart"),
        (right, {header("CRC32"): OTHER["CRC32"]}, "BadDigest"),
        (right, {"x-amz-mp-object-size": str(len(BODY) + 1)}, "InvalidRequest"),
    ]:
        answer = upload.complete(listing, headers=headers)
        assert answer.error == (400, code), f"{headers} {answer.text}"
    assert nothing_is_stored(signer, target)
    answer = upload.complete(
        right, headers={"x-amz-checksum-type": "FULL_OBJECT", header("CRC32"): value, "x-amz-mp-object-size": size})
    assert answer.status == 200, answer.text
    assert checksums(signer.send("HEAD", target, headers=MODE)) == expected("CRC32", value)


def test_boto3_reads_back_what_it_uploads_in_parts_with_its_defaults(s3, key, tmp_path):
    """It verifies each part, and the whole if its checksum is not one of checksums."""
    body = b"".join(two_parts()) * 2
    file = tmp_path / "file"
    file.write_bytes(body)
    s3.upload_file(str(file), BUCKET, key)
    head = s3.head_object(Bucket=BUCKET, Key=key, ChecksumMode="ENABLED")
    assert (head["ChecksumCRC32"], head["ChecksumType"]) == (
        composite("CRC32", body[:8 * MB], body[8 * MB:]), "COMPOSITE")
    s3.upload_file(
        str(file), BUCKET, key, ExtraArgs={"ChecksumType": "FULL_OBJECT", "ChecksumAlgorithm": "CRC32"},
        Config=boto3.s3.transfer.TransferConfig(multipart_threshold=5 * MB, multipart_chunksize=5 * MB))
    head = s3.head_object(Bucket=BUCKET, Key=key, ChecksumMode="ENABLED")
    assert (head["ChecksumCRC32"], head["ChecksumType"]) == (checksum("CRC32", body), "FULL_OBJECT")
    assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == body


def test_a_part_may_come_in_chunks_with_a_trailer(signer, target):
    upload = Multipart(signer, target, x_amz_checksum_algorithm="CRC32C")
    value = checksum("CRC32C", BODY)
    answer = signer.put_with_trailers(
        f"{target}?partNumber=1&uploadId={upload.id}", BODY, f"{header('CRC32C')}:{value}", announced=header("CRC32C"))
    assert (answer.status, checksums(answer)["crc32c"]) == (200, value), answer.text
    done = upload.complete(listed(1, answer, ChecksumCRC32C=value))
    assert (done.status, done.value("ChecksumCRC32C")) == (200, composite("CRC32C", BODY)), done.text
    assert signer.send("GET", target).content == BODY


@pytest.mark.parametrize("algorithm", ["SHA256", "CRC64NVME"])
def test_a_copy_has_a_checksum_of_its_own_content(signer, target, algorithm):
    assert signer.send("PUT", target, BODY, {header(algorithm): checksum(algorithm, BODY)}).status == 200
    copied = signer.send("PUT", f"{target}-copy", headers={"x-amz-copy-source": target})
    assert copied.status == 200, copied.text
    found = checksums(signer.send("HEAD", f"{target}-copy", headers=MODE))
    assert found == expected(algorithm, checksum(algorithm, BODY))
    assert copied.value(f"Checksum{algorithm}") == checksum(algorithm, BODY)


def test_a_part_that_is_copied_has_the_checksum_of_its_upload(signer, target):
    assert signer.put(target, BODY).status == 200
    upload = Multipart(signer, f"{target}-copy", x_amz_checksum_algorithm="SHA256")
    copied = upload.part(1, b"", {"x-amz-copy-source": target, "x-amz-copy-source-range": "bytes=3-8"})
    value = checksum("SHA256", BODY[3:9])
    assert (copied.status, copied.value("ChecksumSHA256")) == (200, value), copied.text
    done = upload.complete({"PartNumber": 1, "ETag": copied.value("ETag"), "ChecksumSHA256": value})
    assert (done.status, done.value("ChecksumSHA256")) == (200, composite("SHA256", BODY[3:9])), done.text
    assert signer.send("GET", f"{target}-copy").content == BODY[3:9]
