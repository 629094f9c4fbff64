"""Pages on `/v4/web/listen`: authentication in the first message, and names that pages choose for conversations."""

import contextlib
import uuid

import pytest
from device_client import Device, Page, token_of
from websocket_driver import RawSocket


def test_a_page_sends_its_token_in_its_first_message(omi):
    token = token_of("page")
    with Device(omi, path="/v4/web/listen", token=token) as device:
        device.send({"type": "auth", "token": token})
        assert device.receive() == {"type": "auth_response", "success": True}
        assert device.receive()["type"] == "conversation_session"
        device.say("from a page")
        assert device.until(1) == ["from a page"]
    for first in ({"type": "auth", "token": ""}, {"type": "transcript_segment", "text": "x"}, "nonsense", b"1234"):
        with Device(omi, path="/v4/web/listen") as device:
            device.send(first)
            code, _ = device.end()
            assert code == 1008 and device.events == [{"type": "auth_response", "success": False}]


def test_the_first_message_of_a_page_is_short_and_the_next_ones_may_be_long(omi):
    token = token_of("long")
    with Device(omi, path="/v4/web/listen", token=token) as device:
        device.send({"type": "auth", "token": token, "padding": "x" * 3000})
        assert device.receive() == {"type": "auth_response", "success": True}
        device.receive()
        device.say("long " * 3000)
        assert device.until(1)
    with Device(omi, path="/v4/web/listen", token=token) as device:
        device.send({"type": "auth", "token": token, "padding": "x" * 4096})
        assert device.end()[0] == 1009


def test_pages_that_send_no_token_block_no_other_page_and_hold_little_memory(omi):
    """Each has begun a message of a megabyte, the last byte of which does not come."""
    with contextlib.ExitStack() as open_sockets:
        server = omi
        server.forget_peak()
        before = server.memory("VmRSS")
        strangers = []
        for _ in range(300):
            stranger = open_sockets.enter_context(RawSocket(server, "/v4/web/listen"))
            stranger.send(stranger.handshake)
            with contextlib.suppress(OSError):
                stranger.send_frame(1, bytes((1 << 20) - 1), claimed=1 << 20)
            strangers.append(stranger)
        with Page(server) as page:
            page.say("heard all the same")
            assert page.until(1) == ["heard all the same"]
        assert server.memory("VmHWM") - before < 64 << 20


@pytest.mark.covers("E-20")
def test_a_page_names_its_conversation_before_it_begins(omi):
    wanted = str(uuid.uuid4())
    with Page(omi, wanted) as page:
        assert page.session == wanted and page.found(wanted) == 404
        page.say("I have a cough.")
        page.until(1)
        assert [conversation["id"] for conversation in page.conversations()] == [wanted]
        page.drop()
    # It goes on by that name, whatever else is wanted.
    for again in (wanted, str(uuid.uuid4()), None):
        with Page(omi, again, user=page.user) as page:
            assert page.session == wanted
    with Page(omi, wanted, user=page.user) as page:
        page.say("And a fever.")
        page.until(1)
        assert page.stored() == ["I have a cough.", "And a fever."]
        assert page.call("POST", "/v1/conversations").json()["conversation"]["id"] == wanted
    # What is over stays as it is.
    with Page(omi, wanted, user=page.user) as page:
        assert page.session != wanted
        page.say("Another visit.")
        page.until(1)
        kept = page.call("GET", f"/v1/conversations/{wanted}").json()
        assert [segment["text"] for segment in kept["transcript_segments"]] == ["I have a cough.", "And a fever."]
        assert {conversation["id"] for conversation in page.conversations()} == {wanted, page.session}


@pytest.mark.covers("E-16", "E-20")
@pytest.mark.parametrize("is_over", [False, True])
def test_a_conversation_id_of_another_user_is_not_used(omi, is_over):
    wanted = str(uuid.uuid4())
    with Page(omi, wanted) as owner:
        owner.say("private")
        owner.until(1)
        if is_over:
            assert owner.call("POST", "/v1/conversations").status_code == 200
        # However it is written.
        for name in (wanted, wanted.upper()):
            with Page(omi, name) as other:
                assert uuid.UUID(other.session) and other.session.lower() != wanted
                assert other.found(wanted) == other.found(name) == 404
                other.say("mine")
                assert other.until(1) == ["mine"]
                assert [conversation["id"] for conversation in other.conversations()] == [other.session]
                assert other.stored() == ["mine"] and other.found(wanted) == 404
                assert other.call("DELETE", f"/v1/conversations/{wanted}").status_code == 404
        assert owner.stored() == ["private"] and owner.found(other.session) == 404


@pytest.mark.covers("E-20")
@pytest.mark.parametrize("wanted", [None, "", "nonsense", "..%2Fx", "%00", "x" * 3000, "1234", "%7B%7D%22"])
def test_a_conversation_id_that_is_no_uuid_is_ignored(omi, wanted):
    with Page(omi, wanted) as page:
        assert str(uuid.UUID(page.session)) == page.session
        page.say("hello")
        page.until(1)
        assert [conversation["id"] for conversation in page.conversations()] == [page.session]


@pytest.mark.covers("E-20")
def test_two_pages_with_one_conversation_id_each_get_the_id_in_use(omi):
    wanted = str(uuid.uuid4())
    with Page(omi, wanted) as first, Page(omi, wanted) as second:
        # Nobody has it yet: both are promised it.
        assert first.session == second.session == wanted
        first.say("mine")
        first.until(1)
        second.say("mine too")
        assert second.until(1) == ["mine too"]
        told = [event for event in second.events if event["type"] == "conversation_session"][-1]["conversation_id"]
        assert told != wanted
        assert [conversation["id"] for conversation in second.conversations()] == [told]
        assert [conversation["id"] for conversation in first.conversations()] == [wanted]


@pytest.mark.covers("E-20")
def test_the_id_of_an_existing_transaction_is_not_used_for_a_conversation(omi):
    client, wanted = omi.client(), str(uuid.uuid4())
    assert client.transaction(wanted).init().ok
    with Device(
        omi, f"client_conversation_id={wanted}", token=client.tokens["access_token"], path="/v4/web/listen"
    ) as page:
        page.send({"type": "auth", "token": page.token})
        assert page.event("conversation_session")["conversation_id"] != wanted
        page.say("hello")
        assert page.until(1) == ["hello"]
