"""The transaction API: transactions with their audio, results and documents, templates, preferences, and S3 objects."""

import http.server
import json
import sqlite3
import sys
import threading

import requests

from saving.client import DOTNET, PLAIN, SECRETS, Client, Question, quoted, tone

BUCKET = "m-prod-voice-record"
BATCH_BUCKET = "m-prod-ekascribe-batch"


class Transaction:
    def __init__(self, client: Client, identifier: str, folder: str | None = None):
        self.client, self.id = client, identifier
        self.folder = folder or f"260510/{identifier}"

    def call(self, verb: str, body, headers=PLAIN):
        return self.client.call("POST", f"/voice/api/v2/transaction/{verb}/{quoted(self.id)}", body, headers)

    def patch(self, body):
        return self.client.call("PATCH", f"/voice/api/v2/transaction/{quoted(self.id)}", body)

    def init(self, flavour: str | None = "ScribeIOS", headers=PLAIN, **more):
        body = {"mode": "consultation", "transfer": "vaded", "s3_url": f"s3://{BUCKET}/{self.folder}"} | more
        self.call("init", body, headers | ({"flavour": flavour} if flavour else {}))
        return self

    def upload(self, s3, **files: bytes):
        """`c1` is the file `1.wav`."""
        for name, body in files.items():
            self.put(s3, f"{name[1:]}.wav", body)
        return self

    def put(self, s3, name: str, body: bytes, content_type="audio/wav", bucket=BUCKET):
        s3.put_object(
            Bucket=bucket, Key=f"{self.folder}/{name}", Body=body, ContentType=content_type,
            Metadata={"bid": "b-demo", "txnid": "t"})
        return self

    def stop(self, *files: str, times=()):
        self.call("stop", {"audio_files": files, "chunk_info": list(times)})
        return self

    def commit(self, *files: str, times=()):
        self.call("commit", {"audio_files": files, "chunk_info": list(times)})
        return self

    def finish(self, **query) -> dict:
        """Polls until the results are there."""
        path = f"/voice/api/v3/status/{quoted(self.id)}"
        while (answer := self.client.send("GET", path, params=query)).status_code == 202:
            pass
        if answer.status_code not in (200, 206, 500):
            sys.exit(f"{path}: {answer.status_code} {answer.text}")
        return answer.json()["data"]


def template(identifier: str, kind: str | None = "custom", name: str | None = None) -> dict:
    return {"template_id": identifier, "template_name": name, "template_type": kind}


def make_library(client: Client) -> dict[str, str]:
    """Makes sections, templates and preferences of a business and of its user. Returns the ids of its templates."""
    def section(**body) -> str:
        return client.call("POST", "/voice/api/v1/template/section", body)["section_id"]

    def own(**body) -> str:
        return client.call("POST", "/voice/api/v1/template", body)["template_id"]

    diet = section(title="Ernährung – आहार", desc="Was gegessen wird.", format="B", example="Wenig Salz 🧂")
    bare = section(title="Bare")
    gone = section(title="Gone", desc="Put away.", format="P", example="")
    fork = client.call("PATCH", "/voice/api/v1/template/section/allergies", {"title": "Allergien", "format": "P"})
    client.call("PATCH", f"/voice/api/v1/template/section/{bare}", {"desc": "Changed."})
    cough = own(title="Husten & Erkältung", desc="Für den Winter.",
                section_ids=["chief_complaints", diet, fork["section_id"], gone, "medications"])
    plain = own(title="Plain", section_ids=[])
    old = own(title="Old", desc="Put away.", section_ids=[bare])
    client.call("PATCH", f"/voice/api/v1/template/{plain}", {"title": "Plain, renamed", "section_ids": ["advice"]})
    client.call("DELETE", f"/voice/api/v1/template/{old}")
    client.call("DELETE", f"/voice/api/v1/template/section/{gone}")
    workspace = {"my_templates": ["soap"], "model_type": "pro", "clinic_name": "Praxis Süd", "beds": 12}
    client.call("PUT", "/voice/api/v2/config", {"request_type": "workspace", "data": workspace})
    user = {
        "my_templates": [cough, "soap", old], "input_languages": [{"id": "hi", "name": "Hindi"}, {"id": "en-IN"}],
        "output_format_template": [{"id": cough, "name": "Husten"}], "consultation_mode": "dictation",
        "model_type": "lite", "auto_download": True, "auto_detect_language": True,
        "letter_head": {"lines": ["Dr. Müller", "नमस्ते"], "margin": 1.5, "logo": None, "colour": [0, 128, 255]},
    }
    client.call("PUT", "/voice/api/v2/config", {"request_type": "user", "data": user})
    return {"cough": cough, "plain": plain, "old": old}


def record_whole(client: Client, s3, own: dict[str, str]):
    """Records a transaction with everything that a transaction can have."""
    full = Transaction(client, "i-full").init(
        "web", client_generated_files=["1.wav"], input_language=["en-IN", "hi"], output_language="hi",
        output_format_template=[
            template("clinical_notes_template"), template("soap", "default", "SOAP"), template(own["cough"]),
            template(own["old"], "custom", "Put away"), template("eka_emr_template", "integration"),
            template("somebody-elses", "integration", "Jemand anderes"), template("transcript_template", None),
        ],
        model_type="lite", Section="OPD", speciality="Kardiologie", version="2.4.1",
        patient_details={"oid": "p-1", "age": 45.0, "biologicalSex": "F", "username": "Zoë Müller-Łukasz 李雷",
                         "visit_id": "v-1", "phone": None, "weight": 61.25, "flags": {"new": True}},
        additional_data={"nested": {"list": [1, -2.5, None, "अ", {"deep": []}], "big": 9007199254740993},
                         "emoji": "👩‍⚕️", "empty": {}, "tiny": 1e-7, "quote": "\"\\\n\t"},
    )
    full.upload(s3, c1=tone(400), c2=tone(420), c3=tone(440)).put(s3, "full_audio.wav_", tone(460), "audio/x-wav")
    full.stop("1.wav", "2.wav", times=[{"1.wav": {"st": 0, "et": 10.5}}])
    times = [{"2.wav": {"st": "10", "et": "00:20.25"}}, {"3.wav": {"st": "", "et": ""}}]
    full.stop("1.wav", "2.wav", "3.wav", times=times)
    full.commit("1.wav", "2.wav", "3.wav", times=[{"3.wav": {"st": 20, "et": 29.75}}])
    results = full.finish()
    notes = {item["template_id"]: item["document_id"] for item in results["output"]}
    client.call("PATCH", "/voice/api/v3/status/i-full", [
        {"template-id": "clinical_notes_template", "data": "# Notiz\n\n- Fieber seit *drei* Tagen — बुखार\n"}])
    convert = "/voice/api/v1/transaction/i-full/convert-to-template"
    client.call("POST", f"{convert}/nic_template")
    client.call("POST", convert, {"template_id": own["plain"], "target_language": "ta"})
    full.finish()
    full.patch({"session_details": {"room": "3 b", "age": 46}, "additional_data": {"later": True}, "mode": "dictation"})

    def document(**body) -> str:
        saved = client.call("POST", "/voice/api/v1/documents", {"session_id": "i-full"} | body)
        return saved["data"]["document_id"]

    remarks = document(document_name="Bemerkungen", document_type="notes", markdown_data="# Bemerkungen 📝")
    letter = document(
        document_name="Brief", template_id="soap", data="Sehr geehrte Frau Zoë",
        publish={"to": "Hausarzt", "copies": 2},
        tiptap_json={"type": "doc", "content": [{"type": "text", "text": "é"}]})
    document(document_name="Vorher", document_type="context", markdown_data="")
    gone = document(document_name="Weg", document_type="notes", markdown_data="Weg")
    client.call("DELETE", f"/voice/api/v1/documents/{gone}")
    client.call("POST", "/voice/api/v1/documents", {
        "document_id": remarks, "document_name": "Bemerkungen, neu", "markdown_data": "Neu.", "tiptap_json": {"v": 2}})
    client.call("POST", "/voice/api/v1/documents", {"document_id": notes["soap"], "publish": {"channel": "fax"}})
    for each in (letter, notes["eka_emr_template"], notes["soap"]):
        client.call("POST", f"/voice/api/v1/sessions/i-full/documents/{each}/publish")
    context = "/voice/api/v1/sessions/i-full/context"
    client.call("PATCH", context, {"context": {
        "past_sessions": ["i-hindi", {"session_id": "long-ago", "title": "Früher"}], "documents": [{"id": "d-1"}],
        "attachments": [{"id": "a-1", "name": "Röntgen.png"}, {"id": "a-2"}]}})
    client.call("DELETE", context, {"context": {"attachments": [{"id": "a-2"}]}})
    feedback = "/voice/api/v1/transaction/i-full/feedback"
    for entity, lowest, highest, rating, comments in [
        ("content", 1, 5, 4, "Die Dosis war falsch – गलत."), ("speed", -1, 1, -1, None),
    ]:
        client.call("POST", feedback, {
            "entity": entity, "qualitative_comments": comments,
            "ratingFeedback": {"min_rating": lowest, "max_rating": highest, "rating": rating}})


def record_chunks(client: Client, s3):
    """Records transactions in chunks, with every outcome."""
    def transaction(identifier: str, flavour: str | None = "ScribeIOS", folder: str | None = None, **more):
        return Transaction(client, identifier, folder).init(flavour, **more)

    def patient(oid: str, name: str, **more) -> dict:
        return {"oid": oid, "username": name, "age": 30} | more

    hindi = transaction("i-hindi", "android", input_language=["hi"], patient_details=patient("p-1", "आशा"))
    hindi.upload(s3, c1=tone(480), c2=tone(500)).stop("1.wav", "2.wav").commit("1.wav", "2.wav").finish()
    for name in ("partial", "no-speech", "undecodable", "timeout", "follow-up", "nobody-knows"):
        chosen = transaction(f"i-{name}", patient_details=patient("p-2", "Bo", visit_id=f"fixture:{name}"))
        chosen.upload(s3, c1=tone(520)).commit("1.wav").finish()
    # Without a flavour: everything that failed is a 500 then. Committed twice.
    down = transaction("i-down", None, additional_data={"fixture": "fixture:recogniser-down"})
    down.upload(s3, c1=tone(540)).commit("1.wav").finish()
    down.commit("1.wav").finish()
    transaction("i-nothing", "web").commit().finish()
    odd = transaction("i-odd", "io", input_language=["en-IN", "hi", "ta"])
    odd.upload(s3, c1=tone(560), c2=b"", c3=tone(580, 0.05), c5=b"this is no audio\n")
    odd.commit("1.wav", "2.wav", "3.wav", "5.wav", "6.wav").finish()
    # The files are listed in two goes, and one of them is replaced after it was heard.
    again = transaction("i-again", "extension").upload(s3, c1=tone(600), c2=tone(620)).commit("1.wav")
    again.finish()
    again.commit("1.wav", "2.wav").finish()
    again.upload(s3, c2=tone(640))
    place = "https://m-prod-voice-record.s3.ap-south-1.amazonaws.com/260510/i-https/"
    transaction("i-https", s3_url=place).upload(s3, c1=tone(660)).commit(f"s3://{BUCKET}/260510/i-https/1.wav").finish()
    transaction("besuch ü – नमस्ते", "android", "260510/ü – नमस्ते").upload(s3, c1=tone(680)).commit("1.wav").finish()
    transaction("shared-id", patient_details=patient("p-3", "Cy")).upload(s3, c1=tone(700)).commit("1.wav").finish()
    # A person's words: in place of a recording, and in place of what was heard.
    transaction("i-supplied", "web", output_format_template=[template("soap")])
    client.call("POST", "/voice/api/v1/transaction/i-supplied/convert-to-template", {
        "transcript": "I have had a cough for two weeks – खाँसी. Take paracetamol 650 mg twice a day for five days."})
    Transaction(client, "i-supplied").finish()
    corrected = transaction("i-corrected").upload(s3, c1=tone(720)).commit("1.wav")
    corrected.finish()
    client.call("PATCH", "/voice/api/v3/status/i-corrected", [
        {"template_id": "transcript", "data": "I have a headache since Monday."}])
    client.call("POST", "/voice/api/v1/transaction/i-corrected/convert-to-template", {
        "template_id": "clinical_notes_template", "target_language": "hi"})
    corrected.finish()
    # Not committed.
    transaction("i-begun")
    recording = transaction("i-recording", "web", patient_details=patient("p-4", "Di")).upload(s3, c1=tone(740))
    recording.patch({"user_status": "recording_started"})
    client.call("GET", "/voice/api/v3/transcript/i-recording/1.wav")
    stopped = transaction("i-stopped", "mac-scribe", version="1.0").upload(s3, c1=tone(760))
    stopped.stop("1.wav", "2.wav", times=[{"1.wav": {"st": 0.5, "et": 7.25}}])
    transaction("i-stream", "web", transfer="stream", s3_url=None)
    # Given up, and put away.
    error = {"error": {"type": "", "code": "cancelled_by_user", "msg": "Abgebrochen – रद्द"}}
    transaction("i-cancelled").upload(s3, c1=tone(780)).stop("1.wav").patch(
        {"user_status": "cancelled", "processing_status": "cancelled", "processing_error": error})
    transaction("i-deleted").upload(s3, c1=tone(800)).commit("1.wav").finish()
    client.call("DELETE", "/voice/api/v2/transaction/i-deleted")
    transaction("i-archived").patch({"arc": True})


def upload_files(client: Client, s3):
    """Uploads whole files: with a form, with a manifest, without S3, and into a folder."""
    def form(query: str, body=None) -> dict:
        return client.call("POST", f"/v1/file-upload?{query}", body, DOTNET)

    def post(form: dict, name: str, body: bytes):
        data = form["uploadData"]
        answer = requests.post(data["url"], data=data["fields"], files={"file": (name, body)}, timeout=60)
        if answer.status_code != 204:
            sys.exit(f"{name}: {answer.status_code} {answer.text}")

    batch = form("txn_id=txn_301&action=ekascribe-v2", {"mode": "dictation", "uhid": "uh-1"})
    post(batch, "Aufnahme 1.wav", tone(820))
    post(batch, "录音.wav", tone(840))
    transaction = Transaction(client, "txn_301")
    transaction.init(
        None, DOTNET, transfer="non-vaded", s3_url=None, mode="dictation", model_type="pro",
        batch_s3_url=batch["uploadData"]["url"] + batch["folderPath"],
        client_generated_files=["Aufnahme 1.wav", "录音.wav"], output_format_template=[template("nic_template")])
    transaction.finish()

    version1 = form("txn_id=txn_v1&action=ekascribe")
    post(version1, "a.wav", tone(860))
    manifest = {
        "transaction-id": "txn_v1", "audio-file": ["a.wav"], "mode": "dictation", "additional_data": {"note": "früh"},
        "output_format": {"input_language": ["en-IN"], "output_template": [{"template_id": "soap"}]},
    }
    post(version1, "txn_v1.json", json.dumps(manifest).encode())
    Transaction(client, "txn_v1").finish()

    answer = client.send("POST", "/voice/upload?txnid=txn_upload&mode=dictation", files={"file": ("b.wav", tone(880))})
    if answer.status_code != 200:
        sys.exit(answer.text)
    Transaction(client, "txn_upload").finish()

    folder = Transaction(client, "txn_folder")
    folder.put(s3, "one.wav", tone(900), bucket=BATCH_BUCKET).put(s3, "two.wav", tone(920), bucket=BATCH_BUCKET)
    folder.init("web", transfer="non-vaded", s3_url=None, batch_s3_url=f"s3://{BATCH_BUCKET}/{folder.folder}").finish()

    s3.put_object(Bucket="b", Key="日本/ü +%.txt", Body="kept".encode(), ContentType="text/plain", Metadata={"a": "b"})
    s3.put_object(Bucket="b", Key="a//b", Body=b"old")
    s3.put_object(Bucket="b", Key="a//b", Body=b"new")
    s3.put_object(Bucket="b", Key="gone", Body=b"gone")
    s3.delete_object(Bucket="b", Key="gone")
    for key, is_completed in [("parts/done.wav", True), ("parts/öffnen.wav", False)]:
        where = {"Bucket": "b", "Key": key}
        begun = s3.create_multipart_upload(**where, ContentType="audio/wav", Metadata={"txnid": "t"})
        upload = where | {"UploadId": begun["UploadId"]}
        part = s3.upload_part(**upload, PartNumber=2, Body=tone(940))
        if is_completed:
            parts = {"Parts": [{"PartNumber": 2, "ETag": part["ETag"]}]}
            s3.complete_multipart_upload(**upload, MultipartUpload=parts)


class SpeechService:
    """Deepgram's API, with words that have times and speakers; what is not in `known` is never answered."""

    def __init__(self, known: dict[bytes, dict]):
        self.asked = 0
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.asked += 1
                if body not in known:
                    return service.end.wait()
                answer = json.dumps(known[body]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        self.end = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.end.set()
        self.server.shutdown()
        self.server.server_close()


def heard(turns: list[list[str]], confidence: float) -> dict:
    words = [(word, speaker) for speaker, turn in enumerate(turns) for word in turn]
    best = {
        "transcript": " ".join(word for word, _ in words), "confidence": confidence,
        "words": [
            {"word": word.lower(), "punctuated_word": word, "start": index / 8, "end": index / 8 + 0.1, "speaker": who}
            for index, (word, who) in enumerate(words)
        ],
    }
    utterances = [{"transcript": " ".join(turn), "speaker": speaker} for speaker, turn in enumerate(turns)]
    return {"results": {"channels": [{"alternatives": [best]}], "utterances": utterances}}


def questions(db: sqlite3.Connection):
    transactions = db.execute(
        "SELECT client_id, txn_id, user_status, archived_at FROM transactions ORDER BY id").fetchall()
    documents = db.execute(
        "SELECT document_id, template_id, kind, is_authored FROM documents WHERE transaction_id ="
        " (SELECT id FROM transactions WHERE txn_id = 'i-full') ORDER BY id").fetchall()
    chunks = db.execute(
        "SELECT client_id, txn_id, file_name FROM chunk_transcripts JOIN transactions t ON t.id = transaction_id"
        " ORDER BY t.id, file_name").fetchall()

    def ask(path: str, headers=PLAIN, client="dev-client") -> Question:
        return Question(path, headers, client)

    for client in SECRETS:
        yield ask("/connect-auth/v1/account/whoami", client=client)
    for client, identifier, user_status, archived_at in transactions:
        name = quoted(identifier)
        if identifier not in ("i-slow", "i-waiting"):
            yield ask(f"/voice/api/v2/transaction/{name}", client=client)
            if not archived_at:
                yield ask(f"/voice/api/v1/sessions/{name}", client=client)
        if user_status in ("commit", "cancelled"):
            yield ask(f"/voice/api/v3/status/{name}", client=client)
    for client, identifier, file in [*chunks, ("dev-client-2", "i-waiting", "1.wav")]:
        yield ask(f"/voice/api/v3/transcript/{quoted(identifier)}/{quoted(file)}", client=client)
    yield ask("/voice/api/v3/transcript/i-full/2")

    for headers in [PLAIN | {"flavour": name} for name in ("ScribeIOS", "android", "io", "web")] + [DOTNET]:
        yield ask("/voice/api/v3/status/i-nothing", headers)
    for headers in (PLAIN | {"flavour": "io"}, DOTNET):
        yield ask("/voice/api/v3/status/i-partial", headers)
    for query in ("transcript=true", "template_id=soap", "template_id=eka_emr_template", "dlp=true&template_id=soap"):
        yield ask(f"/voice/api/v3/status/i-full?{query}")
    for document, name, kind, is_authored in documents:
        if is_authored or kind == "transcript" or name in ("clinical_notes_template", "soap"):
            yield ask(f"/voice/api/v1/documents/{document}")
        if is_authored:
            yield ask(f"/voice/api/v3/status/i-full?document_id={document}")
    for identifier in ("i-full", "i-odd", "i-begun", "i-cancelled"):
        yield ask(f"/voice/api/v1/documents?session_id={identifier}")
    for identifier in ("i-supplied", "i-nothing", "i-odd", "i-stopped", "i-cancelled", "txn_v1", "i-deleted"):
        yield ask(f"/voice-record/api/status/{identifier}")
    for identifier in ("i-supplied", "i-full"):
        yield ask(f"/health/api/v1/fhir/retrieve?identifier={identifier}")
        yield ask(f"/voice/v1/session/{identifier}/suggested-medications")
        yield ask(f"/voice/api/v1/transaction/{identifier}/feedback")

    yield ask("/voice/api/v2/transaction/history")
    yield ask("/voice/api/v2/transaction/history?count=3")
    for client in ("dev-client", "dev-client-2"):
        yield ask("/voice/api/v2/transaction/history?oid=p-3", client=client)
        yield ask("/voice/api/v2/config?my_templates=true", client=client)
    yield ask("/voice/api/v1/template")
    yield ask("/voice/api/v1/template/section")
    for headers in (PLAIN, PLAIN | {"flavour": "ScribeIOS"}):
        yield ask("/voice/api/v2/config", headers)
