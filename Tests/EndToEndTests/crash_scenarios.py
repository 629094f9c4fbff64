"""Scenarios of crash tests: work of each API family that must survive `kill -9` of the server.

All of them share one server, one kill and one start. A new one goes into `SCENARIOS`, and gets a test in
test_crashes.py.
"""

import threading

from ambient_samples import START, samples
from client import BUCKET
from crashes import LATE, Scenario
from device_client import Device
from emulator import PATIENCE, state_folder, wait_until
from listen_client import SPEECH, Listener, consultation, names, said, transcript
from namespaces import Access, EkaClient, access, asked, control, created
from session_client import SessionClient, recording
from suki_client import SukiClient
from webhooks import Consultant, Receiver, admin, settle


class Transactions(Scenario):
    """Transactions, each left after another one of its steps."""

    STATUS_AFTER = {"init": "init", "upload": "init", "stop": "stopped", "commit": "commit"}

    def begin(self, server):
        self.client, self.files = server.client(), {}
        s3 = self.client.s3()
        steps = list(self.STATUS_AFTER)
        self.open = {last: self.client.transaction(f"killed-after-{last}") for last in steps}
        for last, transaction in self.open.items():
            for step in steps[:steps.index(last) + 1]:
                self.take(transaction, step, s3)
        # The fixture holds the results back, so that the next server has a job to resume.
        assert admin(server, "info")["counts"]["jobs"]

    def take(self, transaction, step: str, s3):
        if step == "init":
            assert transaction.init(["transcript_template", "soap"], additional_data=LATE).status_code == 201
        elif step == "upload":
            name = f"{len(transaction.uploaded) + 1}.wav"
            audio = recording(1, f"{transaction.id}-{name}")
            s3.put_object(Bucket=BUCKET, Key=f"{transaction.folder}/{name}", Body=audio)
            transaction.uploaded.append(name)
            self.files[transaction.folder, name] = audio
        else:
            assert getattr(transaction, step)().status_code == 200

    def check(self, server):
        self.client.base_url = server.base_url
        rows = self.client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").json()["data"]
        found = [(row["txn_id"], row["user_status"]) for row in rows if row["txn_id"].startswith("killed-after-")]
        assert sorted(found) == sorted((f"killed-after-{last}", status) for last, status in self.STATUS_AFTER.items())
        s3, steps = self.client.s3(), list(self.STATUS_AFTER)
        for last, transaction in self.open.items():
            for step in steps[steps.index(last) + 1:]:
                self.take(transaction, step, s3)
        for transaction in self.open.values():
            self.finish(transaction)

    def finish(self, transaction):
        """Waits for the results of a committed transaction, and reads its uploads."""
        assert transcript(transaction)
        assert names(transaction) == transaction.uploaded
        s3 = self.client.s3()
        for name in transaction.uploaded:
            kept = s3.get_object(Bucket=BUCKET, Key=f"{transaction.folder}/{name}")["Body"].read()
            assert kept == self.files[transaction.folder, name]


class ProtocolSessions(Scenario):
    """A session that has ended, one that takes more chunks, and one whose audio was streamed."""

    def begin(self, server):
        self.client = SessionClient(server.base_url)
        self.chunks = [recording(1, index) for index in range(3)]
        self.ended, self.open = (self.client.create(templates=["soap"])["session_id"] for _ in range(2))
        for session, count in ((self.ended, 3), (self.open, 2)):
            for index in range(count):
                self.client.upload(session, index, self.chunks[index])
        streamed = self.client.create(upload_type="stream", templates=["soap"])
        self.streamed, self.stream = streamed["session_id"], recording(25)[44:]
        self.client.send(streamed["upload_url"], self.stream)
        self.client.end(self.ended, 3)

    def check(self, server):
        self.client.base = self.client.base.replace(self.client.root, server.base_url)
        self.client.root = server.base_url
        assert self.audio(server, self.ended) == self.chunks
        self.client.upload(self.open, 2, self.chunks[2])
        self.client.end(self.open, 3)
        assert self.audio(server, self.open) == self.chunks
        self.client.end(self.streamed, 0)
        parts = self.audio(server, self.streamed)
        assert len(parts) == 2 and b"".join(part[44:] for part in parts) == self.stream

    def audio(self, server, session: str) -> list[bytes]:
        """Files of a completed session."""
        results = self.client.results(session)
        assert results["status"] == "completed", results
        s3 = server.client().s3()
        return [
            s3.get_object(Bucket="m-prod-ekascribe-batch", Key=f"sessions/{session}/{name}")["Body"].read()
            for name in results["audio_files"]]


class DeviceConversation(Scenario):
    """Conversation of a device that is connected when the server is killed."""

    def begin(self, server):
        self.device = Device(server).ready()
        self.device.say(*(f"word {number}" for number in range(20)))
        self.words = self.device.until(20)

    def while_down(self):
        self.device.drop()

    def check(self, server):
        with Device(server, user=self.device.user).ready() as device:
            assert device.stored() == self.words
            device.say("I have a cough.")
            assert device.until(1) == ["I have a cough."]
            assert device.stored() == [*self.words, "I have a cough."] and len(device.conversations()) == 1
            assert device.call("POST", "/v1/conversations").status_code == 200
            wait_until(lambda: device.conversations("completed"), "the conversation is completed")
            assert len(device.conversations()) == 1


class AmbientSession(Scenario):
    """Ambient session whose stream is open when the server is killed."""

    def begin(self, server):
        client = SukiClient(server.base_url)
        client.initialize()
        self.id, self.audio = client.create_session(), samples(45)
        objects = state_folder(self.site.data) / "objects"

        def files() -> int:
            return sum(path.is_file() for path in objects.rglob("*"))

        before = files()
        self.stream = client.start(self.id, START)
        self.stream.audio(self.audio)
        wait_until(lambda: files() >= before + 2, "two chunks are kept")

    def while_down(self):
        self.stream.drop()

    def check(self, server):
        # The server loses what is in no chunk yet. The device has it, and sends all of it again.
        client = SukiClient(server.base_url)
        client.initialize()
        with client.start(self.id, START) as stream:
            stream.audio(self.audio)
            stream.finish()
        client.end(self.id)
        assert client.wait(self.id) == "completed"
        (kept,) = client.recordings(self.id)
        assert client.fetch(kept).content[44:] == self.audio


class LiveConsultation(Scenario):
    """Live stream of a transaction, open when the server is killed."""

    def begin(self, server):
        self.transaction = consultation(server)
        self.listener = Listener(server, f"endpointing=300&punctuate=true&txn_id={self.transaction.id}")
        self.listener.send(SPEECH)
        self.listener.until("Results")

    def while_down(self):
        self.listener.drop()

    def check(self, server):
        again = server.client().transaction(self.transaction.id)
        again.folder = self.transaction.folder
        assert again.commit(names(again)).status_code == 200
        assert transcript(again) == said(self.listener.messages)


class Namespaces(Scenario):
    """Namespaces, which end with their server, beside a transaction of the main state, which does not."""

    AUDIO = recording(3, 77)

    def begin(self, server):
        assert EkaClient(Access(server.base_url)).transaction("default's").init().status_code == 201
        self.made = {name: created(server, name) for name in ("reset", "deleted", "kept")}
        clients = {name: EkaClient(access(server, made, "credentials")) for name, made in self.made.items()}
        self.tokens = clients["kept"].tokens
        for client in clients.values():
            client.s3().put_object(Bucket=BUCKET, Key="1.wav", Body=self.AUDIO)
        assert self.site.holding(self.AUDIO) == 3
        control(server, "POST", "reset", params={"namespace": "reset"}).raise_for_status()
        control(server, "DELETE", "namespaces/deleted").raise_for_status()
        wait_until(lambda: self.site.holding(self.AUDIO) == 1, "the audio of the others is deleted")

    def check(self, server):
        wait_until(lambda: self.site.holding(self.AUDIO) == 0, "the audio of all namespaces is deleted")
        assert control(server, "GET", "namespaces").json()["namespaces"] == []
        assert asked(server, "GET", "/ns/kept/voice/api/v2/transaction/history").status_code == 404
        for token in ("access_token", "refresh_token"):
            headers = {"Authorization": f"Bearer {self.tokens[token]}"}
            assert asked(server, "GET", "/voice/api/v2/transaction/history", headers=headers).status_code == 401
        login = {name: self.made["kept"][name] for name in ("client_id", "client_secret")}
        assert asked(server, "POST", "/connect-auth/v1/account/login", json=login).status_code == 401
        assert EkaClient(Access(server.base_url)).history().count("default's") == 1


class WebhookDeliveries(Scenario):
    """Events of transactions. The receiver has one of them, and has not answered it, when the server is killed."""

    NAMES = [f"told-{number}" for number in range(6)]

    def begin(self, server):
        self.is_down = threading.Event()
        self.receiver = Receiver()
        self.receiver.before_answer = self.hold
        client = Consultant(server)
        self.hook = client.register(f"{self.receiver.url}/good", "started")
        for name in self.NAMES:
            client.begin(name)
        wait_until(lambda: set(self.NAMES) <= set(self.told(self.receiver)), "the receiver has all events")
        wait_until(lambda: admin(server, "info")["counts"]["pending_deliveries"] == 1, "all others are delivered")

    def hold(self, path, event):
        if event[0] == self.NAMES[-1]:
            self.is_down.wait(PATIENCE)

    def told(self, receiver: Receiver) -> list[str]:
        """Names of this scenario's transactions, as the receiver was told them."""
        return [name for name, _ in receiver.heard["/good"] if name in self.NAMES]

    def while_down(self):
        self.is_down.set()
        self.receiver.stop()
        # Another one at the same address, so that what each server has sent is told apart.
        self.again = Receiver(self.receiver.port)

    def check(self, server):
        settle(server)
        assert sorted(self.told(self.receiver)) == self.NAMES, "nothing is sent twice without a kill between"
        assert self.told(self.again) == self.NAMES[-1:]
        Consultant(server).unregister(self.hook)
        self.again.stop()


#: In the order of their beginnings. The results of the last one are due soon after it.
SCENARIOS = [
    ProtocolSessions, DeviceConversation, AmbientSession, LiveConsultation, Namespaces, WebhookDeliveries, Transactions]
