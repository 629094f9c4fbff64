"""Bare Opus packets, as devices send them."""

import subprocess


def opus_packets(audio: bytes) -> list[bytes]:
    """Bare packets, as ffmpeg packs them into Ogg pages."""
    ogg = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", "-", "-c:a", "libopus",
         "-frame_duration", "20", "-f", "ogg", "-"], input=audio, check=True, capture_output=True).stdout
    packets, pending, at = [], b"", 0
    while at < len(ogg):
        count = ogg[at + 26]
        lengths = ogg[at + 27:at + 27 + count]
        at += 27 + count
        for length in lengths:
            pending += ogg[at:at + length]
            at += length
            if length < 255:
                packets.append(pending)
                pending = b""
    return packets[2:]
