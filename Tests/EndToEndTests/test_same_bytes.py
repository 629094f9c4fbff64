"""The same state is answered with the same bytes: each documented GET is sent twice, by every client profile.

The requests are derived from openapi/scribe.yaml and openapi/control.yaml.
"""

import json
import re

from emulator import LINKS, PATIENCE, SHORT, wait_until
from every_field.cases import PROFILES
from every_field.operations import OPERATIONS
from every_field.tenants import Exchange, Tenant
from listen_client import SPEECH, hear
import pytest
import requests
from schemas import document
from session_client import SessionClient, recording

#: Members that are made for one answer: its time, its links and credentials. Everything else must be the same bytes.
OF_ONE_ANSWER = LINKS | {
    "current_time_utc", "timestamp", "time", "now", "machine", "advance", "AccessKeyId", "SecretKey", "SessionToken",
    "Expiration", "expires_at", "token",
    "policy", "x-amz-credential", "x-amz-date", "x-amz-security-token", "x-amz-signature",
}
MEMBER = re.compile(rb'"(%b)":("(?:[^"\\]|\\.)*"|[-0-9.]+)' % "|".join(sorted(OF_ONE_ANSWER)).encode())


def is_read(responses: dict, success) -> bool:
    return "application/json" in responses.get(success, {}).get("content", {})


READS = [each for each in OPERATIONS if each.method == "GET" and is_read(each.responses, 200)]
CONTROL_READS = [
    path for path, item in document("control.yaml")["paths"].items()
    if is_read(item.get("get", {}).get("responses", {}), "200")
    # These last, or are about a socket: test_journal.py reads them.
    and not path.endswith(("requests/stream", "requests/wait", "/recording"))
]
#: The configuration in each of its shapes.
CONFIGURATIONS = ["", "?my_templates=true", "?my_template=true", "?timezone=Asia/Kolkata"]


def comparable(answer: requests.Response) -> bytes:
    """Bytes of an answer, without the values that are made for it alone."""
    assert answer.status_code == 200, f"{answer.url}: {answer.status_code} {answer.text[:300]}"
    json.loads(answer.content)
    return MEMBER.sub(rb'"\1":', answer.content)


@pytest.fixture(scope="module")
def tenant(served, tmp_path_factory):
    """A tenant with a consultation of each family, on a server without other data."""
    folder, server = tmp_path_factory.mktemp("bytes"), served(*SHORT)
    requests.post(f"{server.base_url}/__admin/reset", timeout=PATIENCE).raise_for_status()
    tenant = Tenant(server, "dev-client", "dev-secret", "first", folder)
    sdk = SessionClient(server.base_url)
    session = sdk.create()["session_id"]
    sdk.upload(session, 0, recording(3))
    sdk.end(session, 1)
    sdk.results(session)
    listened = server.client().transaction("i-listened")
    assert listened.init().status_code == 201
    hear(server, "txn_id=i-listened", SPEECH)
    wait_until(lambda: listened.poll().status_code != 202, "the stream has a note")
    tenant.others = [session, "i-listened"]
    yield tenant
    # Its clock may stand still.
    requests.put(f"{server.base_url}/__admin/clock", json={"mode": "system"}, timeout=PATIENCE).raise_for_status()


@pytest.mark.covers("C-119")
@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.id)
def test_each_get_is_answered_twice_with_the_same_bytes(tenant, operation):
    for headers in PROFILES.values():
        exchange = Exchange(tenant, operation)
        answers = [comparable(exchange.send(headers=headers)) for _ in range(2)]
        assert answers[0] == answers[1], headers


@pytest.mark.parametrize("path", [
    "/voice/v1/sessions/{}", "/voice/v1/sessions/{}/audio", "/voice/api/v1/sessions/{}",
    "/voice/api/v1/sessions/{}?presigned=true", "/voice/api/v2/transaction/{}", "/voice/api/v3/status/{}",
    "/voice/api/v1/documents?session_id={}", "/voice-record/api/status/{}",
])
def test_a_session_and_a_stream_are_answered_twice_with_the_same_bytes(tenant, path):
    for id in (tenant.ids["transaction"], *tenant.others):
        url = tenant.base_url + path.format(id)
        answers = [comparable(tenant.session.get(url, timeout=PATIENCE)) for _ in range(2)]
        assert answers[0] == answers[1], id


@pytest.mark.covers("C-119")
@pytest.mark.parametrize("query", CONFIGURATIONS)
def test_thirty_answers_of_the_configuration_are_the_same_bytes(tenant, query):
    for headers in PROFILES.values():
        url = f"{tenant.base_url}/voice/api/v2/config{query}"
        answers = {comparable(tenant.session.get(url, headers=headers, timeout=PATIENCE)) for _ in range(30)}
        assert len(answers) == 1, headers


@pytest.fixture(scope="module")
def still(tenant):
    """The tenant, whose clock stands still: no retry of a delivery becomes due between two answers."""
    admin = f"{tenant.base_url}/__admin"
    requests.put(f"{admin}/clock", json={"mode": "frozen"}, timeout=PATIENCE).raise_for_status()
    now = requests.get(f"{admin}/clock", timeout=PATIENCE).json()["now"]

    def is_settled():
        deliveries = requests.get(f"{admin}/deliveries", {"limit": 1000}, timeout=PATIENCE).json()["deliveries"]
        return not any(
            each["state"] == "sending" or (each["state"] == "pending" and each["next_attempt"] <= now)
            for each in deliveries)

    wait_until(is_settled, "no attempt is under way or due")
    return tenant


@pytest.mark.parametrize("path", CONTROL_READS)
def test_operators_are_answered_twice_with_the_same_bytes(still, path):
    tenant = still
    admin = f"{tenant.base_url}/__admin"
    webhook = tenant.call("POST", "/voice/v1/webhooks", {"url": "inbox", "events": ["session.failed"]})["webhook_id"]
    delivery = requests.post(f"{admin}/webhooks/{webhook}/test", timeout=PATIENCE).json()["delivery_id"]

    def is_delivered():
        return requests.get(f"{admin}/deliveries/{delivery}", timeout=PATIENCE).json()["state"] == "delivered"

    wait_until(is_delivered, "the message is delivered")
    namespace = requests.post(f"{admin}/namespaces", timeout=PATIENCE).json()["name"]
    requests.put(f"{admin}/snapshots/base", timeout=PATIENCE).raise_for_status()
    url = tenant.base_url + path.replace("{delivery_id}", delivery).replace("{name}", namespace)
    requests.put(f"{admin}/fixtures/{namespace}", json={"text": "I cough."}, timeout=PATIENCE).raise_for_status()
    uploads = requests.get(f"{admin}/objects", timeout=PATIENCE).json()["objects"]
    url = url.replace("{snapshot}", "base").replace("{txn_id}", tenant.ids["transaction"])
    # The newest one: a slow machine polls so often that the first ones have left the journal.
    recorded = requests.get(f"{admin}/requests", {"limit": 1}, timeout=PATIENCE).json()["requests"]
    url = url.replace("{number}", str(recorded[0]["id"])).replace("{object_id}", uploads[0]["object_id"])

    def newest():
        return requests.get(f"{admin}/requests", {"limit": 1000}, timeout=PATIENCE).json()["requests"]

    # A delivery is in the journal after its row says so.
    sent = requests.get(f"{admin}/deliveries/{delivery}", timeout=PATIENCE).json()["session_id"]
    wait_until(lambda: any(each.get("transaction") == sent for each in newest()), "the delivery is in the journal")
    wait_until(lambda: requests.get(f"{admin}/info", timeout=PATIENCE).json()["counts"]["jobs"] == 0, "no job is left")
    answers = [comparable(requests.get(url, timeout=PATIENCE)) for _ in range(2)]
    assert answers[0] == answers[1]
