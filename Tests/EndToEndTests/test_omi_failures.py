"""Conversations of devices over kills, drops and failed writes, and the tokens that strict mode accepts."""

import base64
import contextlib
import json
import random
import sqlite3
import subprocess
import threading
import time

import pytest
import requests
from device_client import FLAGS, Device, EdgeASRTranscriber, token_of
from emulator import PATIENCE, running, state_folder, wait_until
from websockets.exceptions import ConnectionClosed, InvalidStatus


def test_only_the_admin_key_can_act_for_any_user(tmp_path):
    key = tmp_path / "key"
    key.write_text("letmein-\n")
    with running(tmp_path, *FLAGS, "--omi-admin-key-file", str(key), "--auth", "strict", "--demo-seed") as server:
        with Device(server, token="letmein-u7") as device:
            device.say("hello")
            device.until(1)
            assert device.conversations()[0]["transcript_segments"][0]["text"] == "hello"
        for wrong in ("letmein-", "u7", token_of("u7")):
            with pytest.raises(InvalidStatus):
                Device(server, token=wrong)


def test_every_segment_that_was_echoed_survives_a_kill(tmp_path):
    flags = ("--data-dir", str(tmp_path / "data"), "--conversation-timeout", "600s")
    echoed = []
    with running(tmp_path, *flags) as server:
        with Device(server) as device:
            end = threading.Thread(target=lambda: (time.sleep(0.3), server.kill()), daemon=True)
            end.start()
            try:
                for number in range(100_000):
                    device.say(f"word {number}")
                    device.until(number + 1)
            except ConnectionClosed:
                echoed = [segment["text"] for segment in device.segments]
        end.join()
    with running(tmp_path, *flags) as server:
        again = Device(server, user=device.user)
        stored = again.stored()
        assert echoed and stored[:len(echoed)] == echoed and len(stored) <= len(echoed) + 1


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("is_timed", [True, False])
def test_no_word_is_lost_and_none_doubled_over_twenty_drops(tmp_path, seed, is_timed):
    dice = random.Random(seed)
    words = [f"word {number}" for number in range(200)]
    drops = set(dice.sample(range(1, 200), 20))
    with running(tmp_path, "--ephemeral", "--conversation-timeout", "600s") as server:
        client = EdgeASRTranscriber(server, f"dropping-{seed}")
        client.connect()
        for number, text in enumerate(words):
            if number in drops:
                # Some of what was sent has arrived, some was echoed, and some is lost.
                if dice.random() < 0.5:
                    time.sleep(0.01)
                client.device.drop()
                client.connect()
            client.say(text, **({"start": number * 0.6, "end": number * 0.6 + 0.5} if is_timed else {}))
            if dice.random() < 0.4:
                client.read()
        client.device.say("end")
        wait_until(lambda: "end" in client.device.stored(), "all is stored")
        assert client.device.stored() == [*words, "end"]


def openssl(*arguments: str, **options) -> bytes:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, **options).stdout


def test_strict_mode_takes_firebase_tokens_that_its_keys_verify(tmp_path):
    def part(value) -> str:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    def token(key="key.pem", **claims) -> str:
        body = {"iss": "https://securetoken.google.com/omi", "aud": "omi", "sub": "u1", "user_id": "u1",
                "exp": int(time.time()) + 600, **claims}
        text = f"{part({'alg': 'RS256', 'kid': 'k1', 'typ': 'JWT'})}.{part(body)}"
        signature = openssl("dgst", "-sha256", "-sign", str(tmp_path / key), input=text.encode())
        return f"{text}.{part(signature)}"

    for name in ("key.pem", "other.pem"):
        openssl("genrsa", "-out", str(tmp_path / name), "2048")
    modulus = openssl("rsa", "-in", str(tmp_path / "key.pem"), "-noout", "-modulus").decode().strip().split("=")[1]
    known = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k1", "n": part(bytes.fromhex(modulus)), "e": "AQAB"}
    keys = {"keys": [known]}
    (tmp_path / "jwks.json").write_text(json.dumps(keys))
    flags = ("--firebase-jwks-file", str(tmp_path / "jwks.json"), "--firebase-project", "omi", "--auth", "strict",
             "--demo-seed", "--firebase-client", "dev-client-2")
    with running(tmp_path, *FLAGS, *flags) as server:
        with Device(server, token=token()) as device:
            device.say("verified")
            assert device.until(1) == ["verified"]
            conversation = device.conversations()[0]["id"]
            owner = server.client("dev-client-2", "dev-secret-2").transaction(conversation)
            assert owner.poll().status_code in (200, 202)
        for wrong in (
            token(key="other.pem"), token(exp=int(time.time()) - 1), token(aud="another"), token(sub="", user_id=""),
            token(iss="https://securetoken.google.com/another"), token() + "x", token_of("u1"),
            f"{part({'alg': 'none', 'kid': 'k1'})}.{token().split('.')[1]}.",
        ):
            with pytest.raises(InvalidStatus) as refusal:
                Device(server, token=wrong)
            assert refusal.value.response.status_code == 401


def test_a_conversation_whose_end_could_not_be_stored_is_ended_later(tmp_path):
    folder = tmp_path / "data"
    with running(tmp_path, "--data-dir", str(folder), "--conversation-timeout", "600s") as server:
        headers = {"Authorization": f"Bearer {token_of('asha')}"}
        url = f"{server.base_url}/v1"
        said = requests.post(
            f"{url}/transcribe/text", json={"text": "I have a cough."}, headers=headers, timeout=PATIENCE)
        conversation = f"{url}/conversations/{said.json()['conversation_id']}"
        path = state_folder(folder) / "scribe.sqlite"
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE)) as database:
            database.execute(
                "CREATE TRIGGER refusing BEFORE UPDATE OF summary ON conversations BEGIN SELECT RAISE(FAIL, 'no'); END")
            assert requests.post(f"{url}/conversations", headers=headers, timeout=PATIENCE).status_code >= 500
            assert requests.get(conversation, headers=headers, timeout=PATIENCE).json()["status"] == "processing"
            database.execute("DROP TRIGGER refusing")
        wait_until(
            lambda: requests.get(conversation, headers=headers, timeout=PATIENCE).json()["status"] == "completed",
            "the conversation has ended")
