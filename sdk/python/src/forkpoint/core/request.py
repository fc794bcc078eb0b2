"""Requests as data."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Dict, Mapping, Optional, Union
from urllib.parse import quote, urlencode


@dataclass(frozen=True)
class Request:
    """One request, as often as it has to be sent."""

    method: str
    path: str
    body: Union[None, bytes, BinaryIO] = None
    headers: Dict[str, str] = field(default_factory=dict)
    #: Whether it can be sent again if nobody knows what became of it.
    repeatable: bool = True
    #: By which the daemon knows it again, and by which it can be stopped.
    key: Optional[str] = None


def filled(*parts: str) -> str:
    """A path of these parts, of which every one may hold any character."""
    return "/v1/" + "/".join(quote(part.encode("utf-8", "replace"), safe="") for part in parts)


def with_query(path: str, values: Mapping[str, Any]) -> str:
    """A path with those values that are given. Text is sent as it is, everything else as JSON."""
    pairs = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }
    if not pairs:
        return path
    return f"{path}?{urlencode(pairs, errors='replace')}"


def get(path: str, query: Optional[Mapping[str, Any]] = None) -> Request:
    return Request("GET", with_query(path, query or {}))


def post(path: str, body: Mapping[str, Any], key: Optional[str] = None) -> Request:
    """The daemon carries it out once, however often it is sent."""
    key = key or new_key()
    headers = {"content-type": "application/json", "idempotency-key": key}
    return Request("POST", path, json.dumps(body).encode(), headers, key=key)


def delete(path: str, query: Optional[Mapping[str, Any]] = None) -> Request:
    key = new_key()
    return Request("DELETE", with_query(path, query or {}), headers={"idempotency-key": key}, key=key)


def put(
    path: str, query: Mapping[str, Any], body: Union[bytes, BinaryIO], *, repeatable: bool
) -> Request:
    headers = {"content-type": "application/octet-stream"}
    return Request("PUT", with_query(path, query), body, headers, repeatable=repeatable)


def accepting(request: Request, accept: str) -> Request:
    headers = {**request.headers, "accept": accept}
    return Request(
        request.method, request.path, request.body, headers, request.repeatable, request.key
    )


def new_key() -> str:
    return uuid.uuid4().hex
