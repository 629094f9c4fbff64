"""Suki's ambient sessions (`/api/v1/ambient`), and the clients file that names the partner's webhook."""

import base64
import contextlib
import json
import sqlite3
import sys

from saving.client import PLAIN, Client, Question, drain, quoted, samples, tone

#: The clinician of all sessions, as the partner's tokens name them.
SUBJECT = "dr-müller"
PARTNER = "demo-partner"
#: The `login` of the clinician's questions.
LOGIN = "suki"
TOKEN = "sdp_suki_token"
ENCOUNTER = "Besuch 7 – यात्रा"
#: As JSON, which is YAML.
CLIENTS_FILE = json.dumps({"clients": [], "partners": [{
    "partner_id": PARTNER, "client_id": "dev-client", "organisations": ["demo-org"],
    "webhook": {"url": "inbox", "secret": "schlüssel 3", "attempts": 1}}]}, ensure_ascii=False, indent=2) + "\n"


def identifier(number: int) -> str:
    return f"5ca1ab1e-0000-4000-8000-00000000000{number}"


STREAMED, SENT, SKIPPED, FAILED, OPEN, CANCELLED = map(identifier, range(1, 7))
#: Sessions whose status no longer changes. What the status of `OPEN` is depends on the clock.
SETTLED = [STREAMED, SENT, SKIPPED, FAILED, CANCELLED]


def unsigned_token(**claims) -> str:
    """A JWT that no key has signed. Servers accept it outside of strict mode."""
    def part(value) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'RS256', 'kid': 'x'})}.{part(claims)}.c2ln"


def credentials() -> dict:
    return {"partner_id": PARTNER, "partner_token": unsigned_token(sub=SUBJECT, exp=4_102_444_800)}


def log_in(client: Client) -> dict:
    """Returns the headers of the clinician's requests."""
    return {TOKEN: client.call("POST", "/api/v1/auth/login", credentials())["suki_token"]}


class AmbientSession:
    def __init__(self, client: Client, login: dict, id: str, **body):
        self.client, self.login, self.id = client, login, id
        client.call("POST", "/api/v1/ambient/session/create", {"ambient_session_id": id, **body}, PLAIN | login)

    def call(self, method: str, path: str, body=None, headers=PLAIN, **options):
        path = f"/api/v1/ambient/session/{self.id}/{path}"
        return self.client.call(method, path, body, headers | self.login, **options)

    def send(self, audio: bytes, at: str):
        self.call("POST", "audio", data=audio, headers={"X-Start-Time": at})
        return self

    @contextlib.contextmanager
    def streaming(self, at: str):
        """Yields a function that sends one message to the session's socket."""
        with self.client.socket("/ws/stream", self.login | {"ambient_session_id": self.id}) as socket:
            def send(kind: str, **members):
                socket.send(json.dumps({"type": kind, **members}))

            send("START_TIME", data=base64.b64encode(at.encode()).decode())
            yield send
            send("AUDIO", data=base64.b64encode(b"EOF").decode())
            drain(socket)

    def end(self, expected="completed"):
        self.call("POST", "end")
        path = f"/api/v1/ambient/session/{self.id}/status"
        answer = self.client.poll(path, lambda answer: answer["status"] != "running", PLAIN | self.login)
        if answer["status"] != expected:
            sys.exit(f"{path}: {answer}")
        return self


def record_sessions(client: Client):
    client.call("POST", "/api/v1/auth/register", credentials() | {
        "provider_name": "Dr. Müller", "provider_org_id": "demo-org", "provider_specialty": "CARDIOLOGY"})
    login = log_in(client)
    client.call("PATCH", "/api/v1/user/preferences", {"personalization_preference": {
        "verbosity": "CONCISE", "section_format": [{"loinc": "10164-2", "style": "NARRATIVE"}]}}, PLAIN | login)

    def session(id: str, **body) -> AmbientSession:
        return AmbientSession(client, login, id, **body)

    def audio(pitch: int) -> bytes:
        return tone(pitch, 0.1, 16_000)

    streamed = session(STREAMED, encounter_id=ENCOUNTER, multilingual=True)
    streamed.call("POST", "context", {"patient": {"dob": "1979-02-28", "sex": "FEMALE"}})
    codes = [{"type": "ICD-10", "code": "R50.9", "description": "Fever, unspecified"}]
    streamed.call("PATCH", "context", {
        "provider": {"specialty": "CARDIOLOGY", "provider_role": "PRIMARY"},
        "visit": {"visit_type": "WELLNESS", "chief_complaint": "Husten – खाँसी"},
        "sections": [{"loinc": code} for code in ("10164-2", "48765-2", "10160-0", "18776-5")],
        "diagnoses": {"values": [{"codes": codes, "diagnosis_note": "Seit Freitag"}]}})
    with streamed.streaming("2026-05-10T09:12:33.123456Z") as send:
        for pitch, event in [(1240, "PAUSE"), (1260, "KEEP_ALIVE"), (1280, "RESUME")]:
            send("AUDIO", data=base64.b64encode(samples(pitch, 0.1, 16_000)).decode())
            send("EVENT", event=event)
    streamed.end()
    rating = {"min_rating": 1, "max_rating": 5, "rating": 4}
    streamed.call("POST", "content/feedback", {"ratingFeedback": rating, "qualitative_comments": "Fast alles – ठीक"})
    # The later recording comes first.
    sent = session(SENT, encounter_id=ENCOUNTER)
    sent.send(audio(1300), "2026-05-10T10:00:05Z").send(audio(1320), "2026-05-10T10:00:00Z").end()
    session(SKIPPED).end("skipped")
    session(FAILED, encounter_id="fixture:recogniser-down").send(audio(1340), "2026-05-11T09:00:00Z").end("failed")
    session(OPEN, encounter_id="open", patient={"dob": "2001-01-31"}).send(audio(1360), "2026-05-12T09:00:00Z")
    session(CANCELLED).send(audio(1380), "2026-05-13T09:00:00Z").call("POST", "cancel")


def questions(_: sqlite3.Connection):
    def ask(path: str) -> Question:
        return Question(path, login=LOGIN)

    # The key that tokens are signed with is kept.
    yield ask("/api/auth/.well-known/jwks-pub.json")
    for session in SETTLED:
        for part in ("status", "content", "transcript", "structured-data"):
            yield ask(f"/api/v1/ambient/session/{session}/{part}")
    yield ask(f"/api/v1/ambient/session/{SENT}/content?cumulative=true")
    yield Question(f"/voice/api/v1/transaction/{STREAMED}/feedback")
    for part in ("content", "structured-data"):
        yield ask(f"/api/v1/ambient/encounter/{quoted(ENCOUNTER)}/{part}")
