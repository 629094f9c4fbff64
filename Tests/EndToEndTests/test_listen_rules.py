"""Deepgram's rules on the query of `/v1/listen`: what is refused, with the vendor's sentence, and what is told."""

import base64
import contextlib
import http.server
import json
import threading
import uuid

import pytest
import requests
import websockets.exceptions
import websockets.sync.server
from emulator import PATIENCE, wait_until
from journal import Journal
from listen_client import KEY, SPEECH, Listener, hear, results

INVALID = "INVALID_QUERY_PARAMETER"
LIMIT = "Keyterm limit exceeded. The maximum number of tokens across all keyterms is 500."
KEYWORDS = "Keywords are not supported for Nova-3. Please use `keyterm` instead."
NO_MODEL = (403, "INSUFFICIENT_PERMISSIONS", "Project does not have access to the requested model.")
NO_PAIR = (400, "Bad Request", "Bad Request: No such model/language/tier combination found.")
REFUSED = [
    ("model=nova-3&keywords=aspirin:2", 400, INVALID, KEYWORDS),
    ("model=nova-3-medical&keywords=aspirin", 400, INVALID, KEYWORDS),
    ("model=nova-3&keyterm=" + "+".join(["word"] * 50) + ("&keyterm=" + "+".join(["w"] * 50)) * 9 + "&keyterm=one",
     400, INVALID, LIMIT),
    ("model=nova-3&keyterm=" + "+".join(["word"] * 501), 400, INVALID, LIMIT),
    ("model=gpt-4o-transcribe", *NO_MODEL), ("model=nova-30", *NO_MODEL), ("model=Nova-3", *NO_MODEL),
    ("model=nova-3&language=zz", *NO_PAIR), ("language=qq-QQ", *NO_PAIR),
    ("model=nova-2-medical&language=hi", *NO_PAIR),
    ("model=nova-2-meeting&language=multi", *NO_PAIR), ("model=nova-3-pharma&language=fr", *NO_PAIR),
    ("channels=21", 400, "Bad Request", "Field 'channels' must be a number from 1 to 20"),
]
OF_STREAMS = [
    ("interim_results=true&utterance_end_ms=999", 400, INVALID, "Invalid 'utterance_end_ms' value of '999'."),
    ("utterance_end_ms=0", 400, INVALID, "Invalid 'utterance_end_ms' value of '0'."),
    ("utterance_end_ms=-1", 400, INVALID, "Invalid 'utterance_end_ms' value of '-1'."),
    ("interim_results=true&utterance_end_ms=5001", 400, INVALID, "Invalid 'utterance_end_ms' value of '5001'."),
    ("diarize_model=v2", 400, INVALID, "Invalid 'diarize_model' value of 'v2'."),
]
TAKEN = [
    "", "model=nova-3", "model=nova-2&keywords=aspirin:2", "model=nova-3&keyterm=aspirin",
    "model=nova-2&keyterm=aspirin",
    "model=nova-3&keywords=", "model=0b6f5f0e-53a4-4d3c-9d53-6c8d1ad7a111", "model=None", "model=custom",
    "model=nova-3-medical&language=multi",
    "model=nova-3&language=sw-KE", "model=nova-2-meeting&language=en-GB", "language=auto", "channels=20",
    "model=nova-3&language=hi", "interim_results=true&utterance_end_ms=1000", "diarize_model=latest&diarize=true",
    "callback_method=get", "model=whisper",
    "model=nova-2-general&language=en-IN", "model=enhanced&language=es-LATAM",
]
NOT_EMULATED = [
    "search=fever", "replace=a:b", "redact=pci", "alternatives=2", "summarize=v2", "topics=true", "intents=true",
    "sentiment=true", "detect_entities=true", "numerals=true", "profanity_filter=true", "dictation=true", "tag=a",
    "version=2025-01-09", "mip_opt_out=true", "filler_words=true", "measurements=true", "custom_topic=a",
]


def post(server, query: str, **options) -> requests.Response:
    return requests.post(
        f"{server.base_url}/v1/listen?encoding=linear16&sample_rate=16000&{query}", data=SPEECH,
        headers={"Authorization": f"Token {KEY}"}, timeout=PATIENCE, **options)


def refusal(server, query: str, **options):
    """Status, code and sentence of a refused handshake; the sentence is a header too."""
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
        Listener(server, query, **options)
    answer = refused.value.response
    body = json.loads(answer.body)
    assert answer.headers["dg-error"] == body["err_msg"] and answer.headers["dg-request-id"] == body["request_id"]
    return answer.status_code, body["err_code"], body["err_msg"]


@pytest.mark.parametrize("query, status, code, sentence", REFUSED + OF_STREAMS)
def test_a_stream_is_refused_with_the_vendors_sentence(server, query, status, code, sentence):
    assert refusal(server, query) == (status, code, sentence)


@pytest.mark.parametrize("query, status, code, sentence", REFUSED)
def test_a_recording_is_refused_with_the_vendors_sentence(server, query, status, code, sentence):
    answer = post(server, query)
    assert (answer.status_code, answer.json()["err_code"], answer.json()["err_msg"]) == (status, code, sentence)


@pytest.mark.parametrize("query", TAKEN)
def test_what_the_vendor_takes_is_taken(server, query):
    with Listener(server, query) as listener:
        listener.send("CloseStream")
        assert [message["type"] for message in listener.end()] == ["Metadata"]


def test_the_second_diarizer_is_for_recordings(server):
    answer = post(server, "diarize_model=v2")
    assert answer.status_code == 200
    assert "speaker" in answer.json()["results"]["channels"][0]["alternatives"][0]["words"][0]


@pytest.mark.parametrize("query", [row[0] for row in REFUSED[:3] + OF_STREAMS[-2:]])
def test_raw_samples_of_other_clients_are_told_and_not_refused(server, query):
    with Listener(server, query, path="/v1/listen/pcm") as listener:
        listener.send("CloseStream")
        assert listener.end()
    assert last(server)["ignored"], "the journal tells it"


def last(server) -> dict:
    """The newest request of the family in the journal."""
    return max((each for each in Journal(server).all() if each.get("family") == "Listen"), key=lambda each: each["id"])


@pytest.mark.parametrize("query", NOT_EMULATED)
def test_what_is_not_emulated_is_told(server, query):
    name = query.split("=")[0]
    answer = post(server, query).json()
    assert [(each["parameter"], each["type"]) for each in answer["metadata"]["warnings"]] == [
        (name, "unsupported_parameter")]
    assert name in answer["metadata"]["warnings"][0]["message"]
    assert [each["name"] for each in last(server)["ignored"]] == [name]


def test_an_answer_without_such_parameters_has_no_warnings(server):
    answer = post(server, "numerals=false&redact=false&alternatives=1&version=latest").json()
    assert "warnings" not in answer["metadata"] and "extra" not in answer["metadata"]


def test_a_pair_that_the_table_does_not_know_is_told(server):
    warnings = post(server, "model=nova-3&language=sw-KE").json()["metadata"]["warnings"]
    assert [(each["parameter"], each["type"]) for each in warnings] == [("language", "unsupported_language")]
    warnings = post(server, "model=nova-2&keyterm=aspirin").json()["metadata"]["warnings"]
    assert [(each["parameter"], each["type"]) for each in warnings] == [("keyterm", "unsupported_model")]


def test_extra_pairs_are_repeated(server):
    query = "extra=visit:7&extra=a:b:c&extra=visit:8"
    wanted = {"visit": "8", "a": "b:c"}
    assert post(server, query).json()["metadata"]["extra"] == wanted
    messages = hear(server, query)
    assert results(messages) and all(message["metadata"]["extra"] == wanted for message in results(messages))
    assert messages[-1]["type"] == "Metadata" and messages[-1]["extra"] == wanted


def test_an_extra_pair_that_is_too_long_is_told(server):
    answer = post(server, f"extra=long:{'x' * 2048}&extra=short:1").json()["metadata"]
    assert answer["extra"] == {"short": "1"}
    assert [each["parameter"] for each in answer["warnings"]] == ["extra"]


@contextlib.contextmanager
def receiver():
    """An HTTP server that keeps what is sent to it."""
    got = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((dict(self.headers), json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield listening.server_port, got
    finally:
        listening.shutdown()
        listening.server_close()


def test_each_message_of_a_stream_is_posted_to_the_callback(server):
    with receiver() as (port, got):
        messages = hear(server, f"interim_results=true&callback=http://nurse:pa%3Ass@127.0.0.1:{port}/here")
        wait_until(lambda: len(got) == len(messages), "every message is posted")
    assert [body for _, body in got] == messages, "in order"
    for headers, _ in got:
        assert headers["Authorization"] == "Basic " + base64.b64encode(b"nurse:pa:ss").decode()
        uuid.UUID(headers["dg-token"])
        assert KEY not in str(headers)
    shown = json.dumps([each for each in Journal(server).details() if "callback" in each.get("query", "")])
    assert "callback" in shown and "pa%3Ass" not in shown and "pa:ss" not in shown


def test_a_websocket_gets_the_messages_of_a_stream(server):
    got, heads, over = [], [], threading.Event()

    def take(socket):
        heads.append(socket.request)
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            got.extend(json.loads(message) for message in socket)
        over.set()

    with websockets.sync.server.serve(take, "127.0.0.1", 0) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        port = listening.socket.getsockname()[1]
        messages = hear(server, f"callback=ws://127.0.0.1:{port}/here?a=b")
        assert over.wait(PATIENCE)
        listening.shutdown()
    assert got == messages and messages[-1]["type"] == "Metadata"
    assert heads[0].path == "/here?a=b" and uuid.UUID(heads[0].headers["dg-token"])


def test_a_receiver_that_closes_after_the_last_message_ends_nothing(server):
    def take(socket):
        for message in socket:
            if json.loads(message)["type"] == "Metadata":
                return

    with websockets.sync.server.serve(take, "127.0.0.1", 0) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        for _ in range(5):
            with Listener(server, f"callback=ws://127.0.0.1:{listening.socket.getsockname()[1]}") as listener:
                listener.send(SPEECH, "CloseStream")
                listener.end()
                assert listener.close_frame[0] == 1000
        listening.shutdown()


def test_the_loss_of_the_callbacks_socket_ends_the_stream(server):
    with websockets.sync.server.serve(lambda socket: socket.recv(), "127.0.0.1", 0) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        port = listening.socket.getsockname()[1]
        with Listener(server, f"callback=ws://127.0.0.1:{port}") as listener:
            listener.send(SPEECH)
            listener.end()
            assert listener.close_frame[0] == 1011
        listening.shutdown()
    with Listener(server, f"callback=ws://127.0.0.1:{port}") as listener:
        assert listener.end() == [] and listener.close_frame[0] == 1011, "nobody listens there any more"


@pytest.mark.parametrize("callback", ["ftp://127.0.0.1/x", "nothing", "ws://"])
def test_a_callback_that_cannot_be_used_is_refused(server, callback):
    assert refusal(server, f"callback={callback}")[0] == 400


def test_a_key_describes_itself(server):
    answer = requests.get(f"{server.base_url}/v1/auth/token", headers={"Authorization": f"Token {KEY}"})
    assert answer.status_code == 200 and uuid.UUID(answer.json()["api_key_id"]) and KEY not in answer.text
    answer = requests.get(f"{server.base_url}/v1/auth/token", headers={"Authorization": "Token wrong"})
    assert (answer.status_code, answer.json()["err_code"]) == (401, "INVALID_AUTH")


def test_the_models_are_listed(server):
    models = requests.get(f"{server.base_url}/v1/models").json()
    assert models["tts"] == []
    medical = next(model for model in models["stt"] if model["canonical_name"] == "nova-3-medical")
    assert medical["streaming"] and "en-gb" in medical["languages"]
    assert requests.get(f"{server.base_url}/v1/models/{medical['uuid']}").json() == medical
    assert requests.get(f"{server.base_url}/v1/models/{uuid.uuid4()}").status_code == 404


def test_pages_may_read_the_error_and_the_request(server):
    answer = requests.get(f"{server.base_url}/v1/models", headers={"Origin": "http://localhost:3000"})
    exposed = {name.strip() for name in answer.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"dg-request-id", "dg-error"} <= exposed
