"""The session protocol (`/voice/v1/sessions`), live recognition of a transaction (`/v1/listen`), and webhooks."""

import json
import sqlite3

from saving.client import Client, Question, drain, open_socket, samples, tone, wait_until
from saving.transactions import Transaction, template

SUBSCRIPTIONS = "/notification/v1/connect/webhook/subscriptions"
#: No server listens there: systems do not give this port away by themselves.
NOWHERE = "http://127.0.0.1:65535"
#: Sessions whose status no longer changes. What the status of `saved-session-open` is depends on the clock.
SETTLED = [f"saved-session-{name}" for name in ("single", "chunked", "stream", "partial", "cancelled", "told")]


class Session:
    def __init__(self, client: Client, name: str, upload_type="chunked", templates=("soap",), **more):
        self.client, self.id = client, f"saved-session-{name}"
        created = client.call("POST", "/voice/v1/sessions", {
            "session_id": self.id, "session_mode": "consultation", "upload_type": upload_type, "model": "lite",
            "communication_protocol": "websocket" if upload_type == "stream" else "http", "templates": templates,
            "language_hint": ["en"], **more})
        self.upload_url = created["upload_url"]

    def call(self, method: str, path: str = "", body=None, **options):
        return self.client.call(method, f"/voice/v1/sessions/{self.id}{path}", body, **options)

    def upload(self, *recordings: bytes):
        for index, audio in enumerate(recordings):
            self.call("POST", f"/audio/chunk_{index}.wav", data=audio, headers={"Content-Type": "audio/wav"})
        return self

    def stream(self, pcm: bytes):
        with open_socket(self.upload_url) as socket:
            form = {"encoding": "audio/x-l16", "sampleRate": 16_000}
            socket.send(json.dumps({"event": "start", "start": {"streamId": "s", "mediaFormat": form}}))
            socket.send(pcm)
            socket.send(json.dumps({"event": "stop"}))
            drain(socket)
        return self

    def end(self, count=0):
        self.call("POST", "/end", {"audio_files_sent": count})
        return self.settle()

    def settle(self):
        path = f"/voice/v1/sessions/{self.id}"
        self.client.poll(path, lambda answer: answer["status"] in ("completed", "partial", "failed"))
        return self


def record_sessions(client: Client):
    patient = {"oid": "p-5", "age": 61, "biologicalSex": "M", "username": "Jürgen Größe"}
    single = Session(client, "single", "single", patient_details=patient, additional_data={"ward": "३", "bed": 7.5})
    single.upload(tone(1060)).end(1)
    # A session can be asked for another note after its end.
    single.call("POST", "/process/template/clinical_notes_template")
    single.settle()
    chunked = Session(client, "chunked", templates=[], language_hint=["hi", "en"], transcript_language="en")
    chunked.call("PATCH", body={"session_mode": "dictation", "templates": ["soap", "nic_template"]})
    chunked.upload(tone(1080), tone(1100)).end(2)
    Session(client, "stream", "stream").stream(samples(1120, 0.3, 16_000)).end()
    Session(client, "partial", additional_data={"fixture": "fixture:partial"}).upload(tone(1140)).end(1)
    Session(client, "open", patient_details=patient).upload(tone(1160))
    Session(client, "cancelled").upload(tone(1180)).call("PATCH", body={"user_status": "cancelled"})


def record_live(client: Client):
    """Records a transaction over one socket of live recognition."""
    live = Transaction(client, "i-live").init("web", output_format_template=[template("soap", "default")])
    path = f"/v1/listen?encoding=linear16&sample_rate=8000&punctuate=true&txn_id={live.id}"
    with client.socket(path, {"Authorization": "Token org_dev_key"}) as socket:
        socket.send(samples(200, 1.2, 8000))
        socket.send(json.dumps({"type": "CloseStream"}))
        drain(socket)
    live.finish()


def notify_webhooks(client: Client):
    """Registers webhooks of both styles that clients can register. Some deliveries arrive, some fail, and one
    callback is pending."""
    def subscribe(**body):
        client.call("POST", SUBSCRIPTIONS, body)

    def register(*events: str, **body) -> str:
        return client.call(
            "POST", "/voice/v1/webhooks", {"events": [f"session.{event}" for event in events], **body})["webhook_id"]

    subscribe(endpoint="inbox", event_names=["v2rx.completed", "prescription.created"], signing_key="schlüssel 1")
    subscribe(endpoint=f"{NOWHERE}/connect", protocol="http")
    register("started", "ended", "completed", "partial", "failed", "expired", url="inbox", secret="schlüssel 2")
    register("completed", url=f"{NOWHERE}/sessions")
    removed = register("started", url="inbox")
    client.call("DELETE", f"/voice/v1/webhooks/{removed}")
    Session(client, "told").upload(tone(1200)).end(1)
    settle_deliveries(client)
    # After a first attempt the callback waits for its next one.
    client.call(
        "POST", f"/v1/listen?callback={NOWHERE}/heard&callback_method=put", data=tone(1220),
        headers={"Content-Type": "audio/wav"})


def settle_deliveries(client: Client, left=0):
    """Waits until all webhook deliveries have arrived or failed, except so many that may be pending."""
    def is_settled() -> bool:
        return client.call("GET", "/__admin/info")["counts"]["pending_deliveries"] <= left

    wait_until(is_settled, "the deliveries have arrived or failed")


def questions(db: sqlite3.Connection):
    for session in SETTLED:
        yield Question(f"/voice/v1/sessions/{session}")
    for session, query in [("single", "template_id=clinical_notes_template"), ("chunked", "template_id=soap")]:
        yield Question(f"/voice/v1/sessions/saved-session-{session}?{query}")
    yield Question(SUBSCRIPTIONS)
    yield Question("/voice/v1/webhooks")
    yield Question("/__admin/webhooks")
    for (delivery,) in db.execute("SELECT id FROM deliveries ORDER BY id"):
        yield Question(f"/__admin/deliveries/{delivery}")
