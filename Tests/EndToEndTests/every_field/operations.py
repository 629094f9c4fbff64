"""Operations of openapi/scribe.yaml: parameters, bodies, answers and their schemas."""

import schemas

DOCUMENT = schemas.document("scribe.yaml")
#: What ids mean, by the names of fields and parameters.
KINDS = {
    "txn_id": "transaction", "txnid": "transaction", "session_id": "transaction", "identifier": "transaction",
    "past_sessions": "transaction", "template_id": "template", "template-id": "template", "my_templates": "template",
    "section_id": "section", "section_ids": "section", "document_id": "document", "document-id": "document",
    "documents": "document", "chunk": "chunk", "conversation_id": "conversation", "memory_id": "memory",
    "subscription_id": "subscription", "webhook_id": "webhook", "thread_id": "transaction", "threadId": "transaction",
    "encounter_id": "encounter",
}
AMBIENT = "/api/v1/ambient/session"
#: Operations whose path is a credential, with where it comes from and the member that holds it.
TICKETS = {
    "readContent": ("/voice/api/v1/documents/{document}", "presigned_url"),
    "writeContent": ("/voice/api/v1/documents/{document}", "edit_url"),
    "playAudio": ("/voice/v1/sessions/{transaction}/audio", "audio_url"),
    "playAmbientRecording": (AMBIENT + "/{ambient}/recording", "presigned_url"),
}


def resolve(node):
    while isinstance(node, dict) and "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def validator(schema: dict):
    return schemas.validator("scribe.yaml", schema)


def is_valid(schema, value) -> bool:
    return validator(schema).is_valid(value)


class Operation:
    def __init__(self, path: str, method: str, item: dict):
        operation = item[method]
        self.path, self.method, self.id = path, method.upper(), operation["operationId"]
        parameters = [resolve(each) for each in [*item.get("parameters", []), *operation.get("parameters", [])]]
        self.segments = [each for each in parameters if each["in"] == "path"]
        self.queries = [each for each in parameters if each["in"] == "query"]
        self.responses = {int(status): resolve(each) for status, each in operation["responses"].items()}
        self.max_bytes = operation.get("x-max-bytes", 1 << 20)
        self.is_open = operation.get("security") == []
        self.takes_ids = "/init/" in path or path.endswith("/upload")
        body = resolve(operation.get("requestBody"))
        self.takes_body = body is not None
        self.needs_body = self.takes_body and body.get("required", False)
        content = body["content"] if body else {}
        self.schema = content.get("application/json", {}).get("schema")
        self.form = resolve(content.get("multipart/form-data", {}).get("schema"))
        self.takes_wave = self.id == "uploadAmbientAudio"
        self.takes_recording = "application/octet-stream" in content
        if self.takes_recording:
            # Recordings that are named by URL are tested in test_deepgram_sdk.py.
            self.schema = None
        media = content.get("application/json", {})
        self.examples = [media["example"]] if "example" in media else []
        self.examples += [resolve(each)["value"] for each in media.get("examples", {}).values()]


OPERATIONS = [
    Operation(path, method, item) for path, item in DOCUMENT["paths"].items() for method in item
    # Sockets are tested in test_listen_*.py.
    if method in ("get", "post", "put", "patch", "delete") and not item[method].get("x-socket")
]
#: Those that take an id of the caller's choice come last: what they have made is not unknown any more.
OPERATIONS.sort(key=lambda operation: operation.takes_ids)
