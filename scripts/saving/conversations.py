"""Omi's conversations of devices (`/v4/listen`, `/v1/conversations`) and memories (`/v3/memories`)."""

import base64
import json
import sqlite3
import urllib.parse

from saving.ambient import unsigned_token
from saving.client import PATIENCE, PLAIN, Client, Question, samples, wait_until

#: Headers of a user of another issuer.
FOREIGN = PLAIN | {
    "Authorization": f"Bearer {unsigned_token(iss='https://securetoken.google.com/omi', user_id='gerät-7')}"}
#: A JPEG, as far as its first bytes say.
PICTURE = base64.b64encode(b"\xff\xd8\xff\xe0" + bytes(range(256))).decode()
ALL = "statuses=in_progress,processing,completed"


class Device:
    """Socket of the client's user. The server echoes segments once they are stored."""

    def __init__(self, client: Client, query: str):
        # A day is the longest silence that a device may ask for.
        path = f"/v4/listen?conversation_timeout=86400&{query}"
        self.socket = client.socket(path, {"Authorization": client.session.headers["Authorization"]})

    def __enter__(self):
        self.socket.__enter__()
        return self

    def __exit__(self, *failure):
        self.socket.__exit__(*failure)

    def send(self, **message):
        self.socket.send(json.dumps(message))

    def segments(self, count: int) -> list[dict]:
        """Waits for so many segments."""
        received = []
        while len(received) < count:
            text = self.socket.recv(timeout=PATIENCE)
            if text.startswith("["):
                received += json.loads(text)
        return received

    def event(self, kind: str):
        """Waits for an event."""
        while f'"type":"{kind}"' not in self.socket.recv(timeout=PATIENCE).replace(" ", ""):
            pass


def hold_all(client: Client):
    hold_spoken(client)
    hold_with_picture_and_sound(client)
    called = client.call("POST", "/v1/transcribe/text", {"text": "Nothing to keep.", "confidence": 0.5})
    client.call("DELETE", f"/v1/conversations/{called['conversation_id']}")
    keep_memories(client)
    client.call(
        "POST", "/v1/transcribe/text", {"text": "I am allergic to nuts – अखरोट.", "speaker": "SPEAKER_02"}, FOREIGN)
    client.call("POST", "/v1/conversations", headers=FOREIGN)
    with Device(client, "source=desktop&language=hi") as device:
        device.send(type="transcript_segment", text="नमस्ते, मुझे बुखार है।", start=0, end=1.5)
        device.send(type="transcript_segment", text="Seit Montag.", speaker="SPEAKER_01", start=1.5, end=2)
        device.segments(2)


def hold_spoken(client: Client):
    """Holds a conversation of text, with everything that a device can say of its segments."""
    with Device(client, "source=phone&language=en&custom_stt=enabled") as device:
        for number, text in enumerate([
            "Hello, I'm Dr Rao.", "I have had chest pain since Monday – दर्द.", "I am allergic to penicillin.",
            "I take amlodipine 5 mg once a day.", "I like green tea.",
            "Come back for a review in one week.",
        ]):
            device.send(
                type="transcript_segment", text=text, speaker=f"SPEAKER_0{number % 2}", is_user=number == 4,
                start=number * 2.25, end=number * 2.25 + 1.5, confidence=0.95)
        segments = device.segments(6)
        device.send(type="suggested_transcript", stt_provider="parakeet", segments=[
            {"text": "Gute Besserung.", "speaker": "SPEAKER_00", "start": 20.5, "end": 21, "is_user": True}])
        device.segments(1)
        device.send(
            type="speaker_assigned", speaker_id=0, person_id="person-rao", person_name="Dr Rao",
            segment_ids=[segments[0]["id"], segments[2]["id"]])
        device.send(type="transcript_segment", text="Good-bye.", speaker="SPEAKER_00")
        device.segments(1)
    id = client.call("POST", "/v1/conversations")["conversation"]["id"]
    title = urllib.parse.quote("Brustschmerz – दर्द 🫀")
    client.call("PATCH", f"/v1/conversations/{id}/title?title={title}")
    client.call("PATCH", f"/v1/conversations/{id}/segments/1/assign?assign_type=is_user&value=true")


def hold_with_picture_and_sound(client: Client):
    """Holds a conversation with a photo, whose words the server recognises in its audio."""
    with Device(client, "source=openglass&codec=pcm16&sample_rate=8000") as device:
        pieces = [PICTURE[:200], PICTURE[200:]]
        for index, data in enumerate(pieces):
            device.send(type="image_chunk", id="p-1", index=index, total=len(pieces), data=data)
        device.event("photo_described")
        device.socket.send(samples(220, 1.2, 8000))

    def has_words() -> bool:
        [conversation] = client.call("GET", "/v1/conversations?statuses=in_progress")
        return bool(conversation["transcript_segments"])

    wait_until(has_words, "the server has recognised what was said at the end")
    client.call("POST", "/v1/conversations")


def keep_memories(client: Client):
    def remember(**body) -> str:
        return client.call("POST", "/v3/memories", body)["id"]

    remember(content="Trinkt gern Tee ☕️ – चाय", category="interests", visibility="public")
    changed = remember(content="Works at night")
    client.call("PATCH", f"/v3/memories/{changed}?value=Works%20by%20day")
    client.call("PATCH", f"/v3/memories/{changed}/visibility?value=public")
    client.call("DELETE", f"/v3/memories/{remember(content='Gone')}")


def questions(db: sqlite3.Connection):
    conversations = db.execute("SELECT conversation_id, user_id FROM conversations ORDER BY id").fetchall()
    users = {"u-demo": PLAIN, "gerät-7": FOREIGN}
    for headers in users.values():
        for path in (f"/v1/conversations?{ALL}", "/v1/conversations", "/v3/memories"):
            yield Question(path, headers)
    yield Question("/v3/memories?categories=interests,habits")
    for id, user in conversations:
        for part in ("", "/transcripts", "/photos", "/recording"):
            yield Question(f"/v1/conversations/{id}{part}", users[user])
