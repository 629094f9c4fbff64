"""A language model with OpenAI's chat API, which does what a test tells it.
`Tests/EnginesTests/Services/ChatAPI.swift` has the faults that such a service can have.
"""

import json
import threading

from http_recorder import Answer, HTTPRecorder, Request


class ChatService:
    """Says the lines of the transcript under the first section of the template, and `more` after them."""

    def __init__(self):
        self.more: list[str] = []
        #: Status of every answer; 200 for a note.
        self.status = 200
        #: Statuses of the types of `response_format` that are refused.
        self.refused: dict[str | None, int] = {}
        #: Requests wait until it is set.
        self.go_on = threading.Event()
        self.go_on.set()
        self.asked: list[dict] = []
        self.recorder = HTTPRecorder(self._answer)
        self.url = f"{self.recorder.url}/v1"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go_on.set()
        self.recorder.stop()

    def _answer(self, request: Request) -> Answer:
        if request.path == "/v1/models":
            return Answer(200, json.dumps({"object": "list", "data": []}))
        asked = request.json
        self.asked.append(asked)
        assert self.go_on.wait(60)
        kind = asked.get("response_format", {}).get("type")
        status = self.refused.get(kind, self.status)
        if status != 200:
            return Answer(status, json.dumps({"error": {"message": asked["messages"][1]["content"], "code": "down"}}))
        data = json.loads(asked["messages"][1]["content"])
        names = [section["property"] for section in data["template"]["sections"]]
        lines = [line.split(": ")[-1] for line in data["transcript"].splitlines() if line.strip()]
        note = dict.fromkeys(names) | {names[0]: lines + self.more}
        message = {"role": "assistant", "content": json.dumps(note), "refusal": None}
        return Answer(200, json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
