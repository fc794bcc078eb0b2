"""WebSocket frames (RFC 6455), as far as a client of the daemon needs them."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Tuple

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
LONGEST = 16 * 1024**2


def new_nonce() -> str:
    return base64.b64encode(os.urandom(16)).decode()


def accept_of(nonce: str) -> str:
    """What a server answers to a nonce."""
    digest = hashlib.sha1((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    return base64.b64encode(digest).decode()


def frame(opcode: int, payload: bytes) -> bytes:
    """A whole message of a client, which is masked."""
    size = len(payload)
    if size < 126:
        head = bytes([0x80 | opcode, 0x80 | size])
    elif size < 65536:
        head = bytes([0x80 | opcode, 0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | opcode, 0x80 | 127]) + size.to_bytes(8, "big")
    mask = os.urandom(4)
    return head + mask + masked(payload, mask)


def masked(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    key = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")


def head_of(first: int, second: int) -> Tuple[int, bool, int, int]:
    """Opcode, whether it ends its message, the length, and how many bytes hold the length instead."""
    length = second & 0x7F
    more = {126: 2, 127: 8}.get(length, 0)
    return first & 0x0F, bool(first & 0x80), length, more
