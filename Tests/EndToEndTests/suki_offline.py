"""Offline mode of Suki's SDK: keeps whole ambient sessions and uploads them later.

Written only from the SDK's public page and the wire contract, never from the server.
"""

import time
import uuid
from dataclasses import dataclass, field as member

from suki_checks import nanoseconds
from suki_client import TERMINAL, creation, session_path
from suki_stream import StreamError
from websockets.exceptions import ConnectionClosed, InvalidStatus


def refused_as_ended(error):
    """Whether the handshake (412) or the socket (1008) refused a session that has ended."""
    if isinstance(error, InvalidStatus):
        return error.response.status_code == 412
    if isinstance(error, ConnectionClosed):
        return error.rcvd is not None and error.rcvd.code == 1008
    return error.code == 1008


@dataclass
class OfflineSession:
    session_id: str
    encounter_id: str
    context: dict | None = None
    segments: list[tuple] = member(default_factory=list)
    more: dict = member(default_factory=dict)
    queued_at: int = member(default_factory=time.time_ns)

    @property
    def recorded_at(self):
        return min((nanoseconds(moment) for moment, _ in self.segments), default=self.queued_at)


class Offline:
    """Sessions recorded and ended without a network, until they are uploaded."""

    def __init__(self):
        self.queue = []

    def record(self, segments, context=None, session_id=None, encounter_id=None, **more):
        """Queues a whole session, with segments [(start_time, pcm)]; returns its id."""
        id = session_id or str(uuid.uuid4())
        # Without a fixed encounter a repeated create would not be the same one.
        self.queue.append(OfflineSession(id, encounter_id or id, context, list(segments), more))
        return id

    def upload(self, client, keep=False):
        """Uploads the sessions, oldest first; returns their ids.

        A failure leaves its session and the later ones queued, and another upload repeats it whole.
        `keep` leaves all of them queued, as a device that lost the last answers would.
        """
        uploaded = []
        for session in sorted(self.queue, key=lambda session: session.recorded_at):
            self._upload(client, session)
            uploaded.append(session.session_id)
            if not keep:
                self.queue.remove(session)
        return uploaded

    @staticmethod
    def _upload(client, session):
        id = session.session_id
        body = creation(id, session.encounter_id, session.more)
        client.call("POST", "/api/v1/ambient/session/create", expected=(200, 201, 409), json=body)
        status = client.status(id)
        if status in TERMINAL:
            return
        # A status other than created means an earlier try got further, perhaps past its end.
        repeated = status != "created"
        tolerated = (200, 412) if repeated else (200,)
        if session.context is not None:
            client.call("PATCH", session_path(id, "context"), expected=tolerated, json=session.context)
        for start_time, pcm in session.segments:
            try:
                stream = client.start(id, start_time)
                stream.audio(pcm)
                stream.finish()
            except (InvalidStatus, ConnectionClosed, StreamError) as error:
                if not (repeated and refused_as_ended(error)):
                    raise
                break
        client.end(id, expected=tolerated)
