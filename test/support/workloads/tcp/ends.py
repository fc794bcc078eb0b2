"""One end of a connection: sending, and checking what comes."""

import socket
import time

PATIENT = 10  # a wait that takes longer is a hang
PROMPT = 2  # stalls of lost packets take three seconds and more


def pattern(at, length):
    block = bytes(range(251))
    start = at % 251
    return (block * (length // 251 + 2))[start : start + length]


def fill(sock):
    """Sends until nothing more fits. Returns the number of bytes."""
    sock.setblocking(False)
    sent = 0
    quiet_since = time.monotonic()
    while time.monotonic() < quiet_since + 0.1:
        try:
            sent += sock.send(pattern(sent, 65536))
            quiet_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.005)
    sock.setblocking(True)
    return sent


def drain(sock, total, at=0):
    """Reads exactly this many bytes of the pattern. Returns what is wrong."""
    sock.settimeout(PATIENT)
    while at < total:
        try:
            data = sock.recv(min(1 << 20, total - at))
        except OSError as error:
            return f'{error} after {at} of {total} bytes'
        if not data:
            return f'ended after {at} of {total} bytes'
        if data != pattern(at, len(data)):
            return f'other bytes at {at}'
        at += len(data)
    return None


def expect(sock, wanted):
    sock.settimeout(PATIENT)
    try:
        data = b''
        while len(data) < max(1, len(wanted)):
            more = sock.recv(max(1, len(wanted) - len(data)))
            if not more:
                break
            data += more
    except OSError as error:
        return f'{error} instead of {wanted!r}'
    return None if data == wanted else f'{data[:40]!r} instead of {wanted!r}'


def state(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[0]
