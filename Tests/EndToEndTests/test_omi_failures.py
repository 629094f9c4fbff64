"""Conversations of devices over drops and failed writes, and the tokens that strict mode accepts."""

import base64
import contextlib
import json
import random
import sqlite3
import subprocess
import time

import pytest
import requests
from device_client import Device, EdgeASRTranscriber, token_of
from emulator import PATIENCE, running, state_folder, wait_until
from websockets.exceptions import InvalidStatus


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("is_timed", [True, False])
def test_no_word_is_lost_and_none_doubled_over_twenty_drops(server, seed, is_timed):
    dice = random.Random(seed)
    words = [f"word {number}" for number in range(200)]
    drops = set(dice.sample(range(1, 200), 20))
    client = EdgeASRTranscriber(server, f"dropping-{seed}-{is_timed}")
    client.connect()
    for number, text in enumerate(words):
        if number in drops:
            # Some drops come after all that was sent has arrived, and some before.
            if dice.random() < 0.5:
                wait_until(lambda: words[number - 1] in client.device.stored(), "the last word is stored")
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


def part(value) -> str:
    """Part of a token."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Strict:
    """A strict server with a data folder, an admin key, and one of the two keys in a folder as Firebase's."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("key.pem", "other.pem"):
            openssl("genrsa", "-out", folder / name, "2048")
        (folder / "admin-key").write_text("letmein-\n")
        text = openssl("rsa", "-in", folder / "key.pem", "-noout", "-modulus").decode()
        modulus = part(bytes.fromhex(text.strip().split("=")[1]))
        key = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k1", "n": modulus, "e": "AQAB"}
        (folder / "jwks.json").write_text(json.dumps({"keys": [key]}))
        self.flags = (
            "--data-dir", "data", "--auth", "strict", "--demo-seed", "--long-poll", "1s",
            "--conversation-timeout", "10m",
            "--omi-admin-key-file", "admin-key", "--firebase-jwks-file", "jwks.json", "--firebase-project", "omi",
            "--firebase-client", "dev-client-2")

    def token(self, key="key.pem", **claims) -> str:
        body = {"iss": "https://securetoken.google.com/omi", "aud": "omi", "sub": "u1", "user_id": "u1",
                "exp": int(time.time()) + 600, **claims}
        text = f"{part({'alg': 'RS256', 'kid': 'k1', 'typ': 'JWT'})}.{part(body)}"
        return f"{text}.{part(openssl('dgst', '-sha256', '-sign', self.folder / key, input=text.encode()))}"


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    strict = Strict(tmp_path_factory.mktemp("strict"))
    with running(strict.folder, *strict.flags) as strict.server:
        yield strict


def test_only_the_admin_key_can_act_for_any_user(strict):
    with Device(strict.server, token="letmein-u7") as device:
        device.say("hello")
        device.until(1)
        assert device.conversations()[0]["transcript_segments"][0]["text"] == "hello"
    for wrong in ("letmein-", "u7", token_of("u7")):
        with pytest.raises(InvalidStatus):
            Device(strict.server, token=wrong)


def test_strict_mode_takes_firebase_tokens_that_its_keys_verify(strict):
    with Device(strict.server, token=strict.token()) as device:
        device.say("verified")
        assert device.until(1) == ["verified"]
        conversation = device.conversations()[0]["id"]
        owner = strict.server.client("dev-client-2", "dev-secret-2").transaction(conversation)
        assert owner.poll().status_code in (200, 202)
    for wrong in (
        strict.token(key="other.pem"), strict.token(exp=int(time.time()) - 1), strict.token(aud="another"),
        strict.token(sub="", user_id=""), strict.token(iss="https://securetoken.google.com/another"),
        strict.token() + "x", token_of("u1"), f"{part({'alg': 'none', 'kid': 'k1'})}.{strict.token().split('.')[1]}.",
    ):
        with pytest.raises(InvalidStatus) as refusal:
            Device(strict.server, token=wrong)
        assert refusal.value.response.status_code == 401


def test_a_conversation_whose_end_could_not_be_stored_is_ended_later(strict):
    headers = {"Authorization": f"Bearer {strict.token(sub='asha', user_id='asha')}"}
    url = f"{strict.server.base_url}/v1"
    said = requests.post(f"{url}/transcribe/text", json={"text": "I have a cough."}, headers=headers, timeout=PATIENCE)
    conversation = f"{url}/conversations/{said.json()['conversation_id']}"

    def status() -> str:
        return requests.get(conversation, headers=headers, timeout=PATIENCE).json()["status"]

    path = state_folder(strict.folder / "data") / "scribe.sqlite"
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE)) as database:
        database.execute(
            "CREATE TRIGGER refusing BEFORE UPDATE OF summary ON conversations BEGIN SELECT RAISE(FAIL, 'no'); END")
        assert requests.post(f"{url}/conversations", headers=headers, timeout=PATIENCE).status_code >= 500
        assert status() == "processing"
        database.execute("DROP TRIGGER refusing")
    wait_until(lambda: status() == "completed", "the conversation has ended")
