"""Measures uploads of 16 MB by OkHttp over TLS beside nginx with the same certificate: okhttp.py BINARY WORK_FOLDER"""

import pathlib
import shutil
import statistics
import subprocess
import sys

import boto3
from bench_table import print_table
from messages import BUCKET, REGION, Client
from servers import EncryptedScribe, Nginx

ROUNDS = 3
SIZE = 16 << 20
#: The first ones pay for the virtual machine's compiler.
WARM, COUNT = 3, 8
CLASSES = ":".join(f"/usr/share/java/{name}.jar" for name in ("okhttp", "okio", "jsr305"))
PROGRAM = pathlib.Path(__file__).with_name("OkHttpUpload.java")


def presigned(server) -> str:
    keys = Client(server.url).keys
    client = boto3.client(
        "s3", endpoint_url=f"https://127.0.0.1:{server.tls_port}", region_name=REGION,
        aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretKey"],
        aws_session_token=keys["SessionToken"])
    return client.generate_presigned_url("put_object", {"Bucket": BUCKET, "Key": "bench/okhttp"})


def upload(url: str, authority: pathlib.Path, delay: str, protocol: str) -> float:
    """The median of some uploads, in seconds."""
    command = [
        "java", "-cp", f"{CLASSES}:{WORK}", "OkHttpUpload", url, authority, str(SIZE), str(COUNT), delay, protocol]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return statistics.median(map(float, answer.stdout.split()[WARM:]))


def main():
    subprocess.run(["javac", "-cp", CLASSES, "-d", WORK, PROGRAM], check=True)
    taken: dict[tuple, dict[str, list[float]]] = {
        (protocol, delay): {"server": [], "nginx": []}
        for protocol in ("h2", "http/1.1") for delay in ("nagle", "nodelay")}
    first = EncryptedScribe(WORK / "okhttp-keys", BINARY)
    with first:
        pass
    for _ in range(ROUNDS):
        for name in ("server", "nginx"):
            is_ours = name == "server"
            peer = EncryptedScribe(WORK / "okhttp", BINARY) if is_ours else Nginx(WORK / "okhttp-nginx", first.keys)
            with peer as server:
                url = presigned(server) if is_ours else f"https://127.0.0.1:{server.tls_port}/upload"
                authority = (server.keys if is_ours else first.keys) / "ca.pem"
                for (protocol, delay), results in taken.items():
                    results[name].append(upload(url, authority, delay, protocol))
            shutil.rmtree(peer.folder)
    rows = []
    for (protocol, delay), results in taken.items():
        ours, theirs = statistics.median(results["server"]), statistics.median(results["nginx"])
        ratio = statistics.median(our / their for our, their in zip(results["server"], results["nginx"]))
        rows.append({
            "16 MB by OkHttp over TLS": f"{protocol}, Nagle's algorithm {'on' if delay == 'nagle' else 'off'}",
            "result": f"{ours:.3f} s; {ratio:.2f} of nginx's time",
            "goal": "≤ 1 of nginx's" if protocol == "h2" else "",
            "met": "" if protocol != "h2" else "yes" if ratio <= 1 else "no",
            "beside it, this run": f"nginx {theirs:.3f} s",
        })
    print_table(rows)


if __name__ == "__main__":
    BINARY, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
    main()
