"""Live streams that belong to a transaction: their audio and text are in its results."""

import contextlib

import pytest
from emulator import HASTY, wait_until
from listen_client import SPEECH, Listener, consultation, hear, kept, results, said, silence, transcript, voice
from socket_doors import stream
from websockets.exceptions import InvalidStatus


@pytest.mark.covers("L-54")
def test_a_stream_is_a_consultation(server):
    transaction = consultation(server)
    messages = hear(server, f"endpointing=300&punctuate=true&txn_id={transaction.id}", SPEECH + silence(1) + voice(2))
    assert transcript(transaction) == said(messages)
    assert transaction.poll().json()["data"]["template_results"]["custom"]
    # The audio is there, in chunks that follow each other.
    assert kept(transaction) == SPEECH + silence(1) + voice(2)
    # It has ended, and is nobody else's.
    for identifier in (transaction.id, "nothing", "a%00b"):
        with pytest.raises(InvalidStatus) as refusal:
            hear(server, f"txn_id={identifier}")
        assert refusal.value.response.status_code == 400 and b"txn_id" in refusal.value.response.body


@pytest.mark.covers("L-54")
def test_a_stream_that_breaks_off_goes_on_in_the_same_consultation(server):
    transaction = consultation(server)
    query = f"endpointing=300&punctuate=true&txn_id={transaction.id}"
    with Listener(server, query) as first:
        first.send(SPEECH)
        first.until("Results")
        first.drop()
    wait_until(lambda: kept(transaction) == SPEECH, "what was not settled is kept too")
    second = hear(server, query, voice(2))
    heard = transcript(transaction)
    assert heard.startswith(said(first.messages)) and heard.endswith(said(second))
    assert kept(transaction) == SPEECH + voice(2)


@pytest.fixture(scope="module")
def impatient(served):
    """A server that closes a live socket, and a stream of a session, after a second without audio."""
    return served(*HASTY)


def test_a_stream_of_a_session_without_audio_is_closed(impatient):
    with stream(impatient)[0] as raw:
        raw.send_frame(2, b"\1\0" * 100)

        def code() -> int | None:
            # Pings are no audio.
            with contextlib.suppress(OSError):
                raw.send_frame(9, b"here")
            return raw.closed_with()

        assert wait_until(code, "the server closes the stream") == 1001


@pytest.mark.covers("L-54")
@pytest.mark.parametrize("ends", ["with a close frame", "without a word", "idle"])
def test_pending_text_is_stored_however_a_stream_ends(impatient, ends):
    transaction = consultation(impatient)
    audio = SPEECH + voice(0.4)
    with Listener(impatient, f"endpointing=300&txn_id={transaction.id}") as listener:
        listener.send(audio)
        listener.until("Results")
        if ends == "with a close frame":
            listener.socket.close()
        elif ends == "idle":
            listener.end()
        else:
            listener.drop()
    wait_until(lambda: kept(transaction) == audio, "what was not settled is kept too")
    # It is open still, and may go on.
    assert said(hear(impatient, f"txn_id={transaction.id}", voice(1)))
    assert kept(transaction) == audio + voice(1) and transcript(transaction)


def test_two_streams_of_one_consultation_take_nothing_from_each_other(server):
    transaction = consultation(server)
    query = f"endpointing=300&txn_id={transaction.id}"
    with Listener(server, query) as first, Listener(server, query) as second:
        for listener in (first, second):
            listener.send(SPEECH)
            listener.until("Results")
            listener.socket.close()
    wait_until(lambda: len(kept(transaction)) == 2 * len(SPEECH), "each has its chunks")


def test_the_stored_text_is_punctuated_whatever_format_the_client_requests(server):
    transaction = consultation(server)
    messages = hear(server, f"endpointing=300&txn_id={transaction.id}", voice(5))
    assert said(messages).islower() and "." not in said(messages)
    said_words = [word for r in results(messages) for word in r["channel"]["alternatives"][0]["words"]]
    assert all("punctuated_word" not in word for word in said_words)
    stored = transcript(transaction)
    assert stored.startswith("Good morning") and stored.lower().replace(".", "") == said(messages)


def test_each_channel_of_a_consultation_is_in_its_transcript(server):
    transaction = consultation(server)
    mono = voice(3)
    stereo = b"".join(mono[at:at + 2] * 2 for at in range(0, len(mono), 2))
    query = f"channels=2&multichannel=true&endpointing=300&punctuate=true&txn_id={transaction.id}"
    messages = hear(server, query, stereo)
    counts = [words for r in results(messages, final=True) for words in [len(r["channel"]["alternatives"][0]["words"])]]
    assert len(counts) == 2 and len(transcript(transaction).split()) == sum(counts)
