"""Client of live recognition on `/v1/listen`, and of the transaction that a stream belongs to. Checks every message
against openapi/listen.asyncapi.yaml."""

import io
import json
import math
import os
import struct
import wave

from client import text
from emulator import PATIENCE
from schemas import component
from websocket_driver import Socket, open_socket

os.environ["NO_PROXY"] = "127.0.0.1,localhost"

KEY = "org_dev_key"
RATE = 16_000


def check(text: str) -> dict:
    message = json.loads(text)
    component("listen.asyncapi.yaml", message["type"]).validate(message)
    return message


def voice(seconds: float, rate=RATE) -> bytes:
    count = round(seconds * rate)
    return struct.pack(f"<{count}h", *(round(9000 * math.sin(i * 0.1)) for i in range(count)))


def silence(seconds: float, rate=RATE) -> bytes:
    return bytes(2 * round(seconds * rate))


#: Two utterances with a pause between them.
SPEECH = voice(1.2) + silence(0.6) + voice(1.2)


class Listener(Socket):
    """Socket of live recognition that keeps its messages."""

    def __init__(self, server, query="", path="/v1/listen", key=KEY, address=None, **options):
        options.setdefault("additional_headers", {"Authorization": f"Token {key}"})
        address = address or f"ws://127.0.0.1:{server.port}{path}?encoding=linear16&sample_rate={RATE}&{query}"
        super().__init__(open_socket(address, **options))
        self.messages = []

    def send(self, *messages):
        for message in messages:
            self.socket.send(json.dumps({"type": message}) if isinstance(message, str) else message)

    def receive(self) -> dict:
        message = check(self.socket.recv(timeout=PATIENCE))
        self.messages.append(message)
        return message

    def until(self, kind: str) -> dict:
        while (message := self.receive())["type"] != kind:
            pass
        return message

    def end(self) -> list[dict]:
        """All messages, to the end of the socket."""
        self.receive_all()
        return self.messages


def hear(server, query="", *messages, **options) -> list[dict]:
    with Listener(server, query, **options) as listener:
        listener.send(*(messages or (SPEECH,)), "CloseStream")
        return listener.end()


def results(messages, final=None):
    return [m for m in messages if m["type"] == "Results" and final in (None, m["is_final"])]


def words(result) -> int:
    return len(result["channel"]["alternatives"][0]["words"])


def environment(server):
    from deepgram.environment import DeepgramClientEnvironment

    http, ws = f"http://127.0.0.1:{server.port}", f"ws://127.0.0.1:{server.port}"
    return DeepgramClientEnvironment(base=http, production=ws, agent=ws, agent_rest=http)


def consultation(server):
    """Starts a transaction for a stream."""
    transaction = server.client().transaction()
    assert transaction.init(["transcript_template", "soap"]).status_code == 201
    return transaction


def said(messages) -> str:
    """Text of the final results."""
    return " ".join(r["channel"]["alternatives"][0]["transcript"] for r in results(messages, final=True) if words(r))


def transcript(transaction) -> str:
    """Polls a transaction, and returns the text of its transcript."""
    while (answer := transaction.poll()).status_code == 202:
        pass
    assert answer.status_code == 200, answer.text
    [document] = answer.json()["data"]["template_results"]["transcript"]
    return " ".join(text(document).split())


def names(transaction) -> list[str]:
    """File names of the transaction's chunks."""
    listed = transaction.client.s3().list_objects_v2(Bucket="m-prod-voice-record", Prefix=transaction.folder)
    return [entry["Key"].rsplit("/", 1)[1] for entry in listed.get("Contents", [])]


def kept(transaction) -> bytes:
    """Audio of the transaction's chunks, in order."""
    audio = b""
    for name in names(transaction):
        answer = transaction.client.s3().get_object(Bucket="m-prod-voice-record", Key=f"{transaction.folder}/{name}")
        with wave.open(io.BytesIO(answer["Body"].read())) as chunk:
            audio += chunk.readframes(chunk.getnframes())
    return audio
