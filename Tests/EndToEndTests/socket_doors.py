"""The four kinds of WebSocket that hold bytes for a client: how to open each, and its longest messages."""

import base64
import json

from device_client import token_of
from session_client import SessionClient
from suki_client import SukiClient
from websocket_driver import RawSocket

MEGABYTE = 1 << 20
KEY = "Authorization: Token org_dev_key"
SAMPLES = "encoding=linear16&sample_rate=16000"


def listen(server):
    """Opens a socket. Returns it with the opcode and the largest size of its messages."""
    return RawSocket.opened(server, f"/v1/listen?{SAMPLES}", KEY), 2, 16 * MEGABYTE


def stream(server):
    url = SessionClient(server.base_url).create(upload_type="stream")["upload_url"]
    return RawSocket.opened(server, "/" + url.split("/", 3)[3]), 1, 16 * MEGABYTE


def device(server):
    bearer = f"Authorization: Bearer {token_of('somebody')}"
    return RawSocket.opened(server, "/v4/listen?codec=pcm16&sample_rate=16000", bearer), 1, MEGABYTE


def ambient(server):
    client = SukiClient(server.base_url)
    client.initialize()
    session = client.create_session()
    headers = (f"sdp_suki_token: {client.sdp_suki_token}", f"ambient_session_id: {session}")
    return RawSocket.opened(server, "/ws/stream", *headers), 1, MEGABYTE


DOORS = [listen, stream, device, ambient]


def largest(door) -> list[str]:
    """Longest texts of a door, each of a kind that is costly to understand."""
    size = {listen: 64 << 10, stream: 16 * MEGABYTE}.get(door, MEGABYTE) - 200
    if door is listen:
        return [json.dumps({"type": "Configure", "keyterms": ["x" * size]})]
    if door is stream:
        audio = base64.b64encode(b"\1\0" * (size * 3 // 8 // 2 * 2)).decode()
        return [json.dumps({"event": "media", "media": {"payload": audio[:len(audio) // 4 * 4]}}), "[" * size]
    if door is ambient:
        start = base64.b64encode(b"2026-05-10T09:12:33Z").decode()
        audio = base64.b64encode(b"\1\0" * (size * 3 // 8 // 3 * 3)).decode()
        return [json.dumps({"type": "START_TIME", "data": start}), json.dumps({"type": "AUDIO", "data": audio})]
    words = "\u0130 " * (size // 120)
    many = {"type": "suggested_transcript", "segments": [{"text": words, "start": 0, "end": 1}] * 18}
    return [
        json.dumps(many, ensure_ascii=False),
        json.dumps({"type": "transcript_segment", "text": "so " * (size // 4)}),
        json.dumps({"type": "image_chunk", "id": "p", "index": 0, "total": 2, "data": "A" * (size - 100)}),
        json.dumps({"type": "speaker_assigned", "speaker_id": 1, "segment_ids": ["x" * 60] * (size // 70)}),
    ]
