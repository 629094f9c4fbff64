"""Version 4 of Deepgram's SDK against a server: older_deepgram.py BASE_URL WAV KEY. Prints what it got as JSON."""

import json
import sys
import threading
import wave

from deepgram import DeepgramClient, DeepgramClientOptions, LiveOptions, LiveTranscriptionEvents, PrerecordedOptions


def recorded(client, path: str) -> dict:
    with open(path, "rb") as file:
        options = PrerecordedOptions(model="nova-3", punctuate=True, extra=["visit:7"], search=["fever"])
        answer = client.listen.rest.v("1").transcribe_file({"buffer": file.read()}, options)
    return {
        "transcript": answer.results.channels[0].alternatives[0].transcript, "extra": answer.metadata.extra,
        "warnings": [each["parameter"] for each in answer.metadata.warnings]}


def live(client, path: str) -> dict:
    words, metadata, over = [], [], threading.Event()
    socket = client.listen.websocket.v("1")

    def take(_, result, **__):
        if result.is_final:
            words.extend(word.word for word in result.channel.alternatives[0].words)

    socket.on(LiveTranscriptionEvents.Transcript, take)
    socket.on(LiveTranscriptionEvents.Metadata, lambda _, metadata: metadata_of(metadata))
    socket.on(LiveTranscriptionEvents.Close, lambda *_, **__: over.set())

    def metadata_of(message):
        metadata.append(message.duration)
        over.set()

    with wave.open(path, "rb") as recording:
        samples = recording.readframes(recording.getnframes())
        options = LiveOptions(
            model="nova-3", encoding="linear16", sample_rate=recording.getframerate(), interim_results=True)
    started = socket.start(options)
    socket.send(samples)
    socket.finish()
    over.wait(30)
    return {"started": started, "words": len(words), "metadata": metadata}


if __name__ == "__main__":
    url, path, key = sys.argv[1:]
    client = DeepgramClient(key, DeepgramClientOptions(url=url))
    refused = client.listen.websocket.v("1").start(LiveOptions(model="nova-30"))
    print(json.dumps({"recorded": recorded(client, path), "live": live(client, path), "refused": refused}))
