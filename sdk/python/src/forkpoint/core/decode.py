"""Documents of the daemon as data classes."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any, Dict, List, Tuple, Type, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import BackendError
from .names import camel

T = TypeVar("T")


class _Unfit(Exception):
    pass


def decode(kind: Type[T], document: Any, name: str) -> T:
    """Fields that this version does not know are left out; what is missing or of another type is an error."""
    try:
        value: T = _value(kind, document, name)
        return value
    except _Unfit as error:
        raise BackendError(
            f"the daemon answered in an unknown form: {error}",
            remedy="use the same version of Forkpoint on both sides",
        ) from None


def decode_list(kind: Type[T], document: Any, name: str) -> List[T]:
    if not isinstance(document, list):
        raise BackendError(
            f"the daemon answered in an unknown form: {name} is not a list",
            remedy="use the same version of Forkpoint on both sides",
        )
    return [decode(kind, each, f"{name}[{index}]") for index, each in enumerate(document)]


def _value(kind: Any, document: Any, where: str) -> Any:
    if kind is Any:
        return document
    if dataclasses.is_dataclass(kind):
        return _fields(kind, document, where)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Union:
        if document is None and type(None) in args:
            return None
        (inner,) = [arg for arg in args if arg is not type(None)]
        return _value(inner, document, where)
    if origin is list and isinstance(document, list):
        return [_value(args[0], each, f"{where}[{index}]") for index, each in enumerate(document)]
    if origin is dict and isinstance(document, dict):
        return {str(key): _value(args[1], each, f"{where}.{key}") for key, each in document.items()}
    return _plain(kind, document, where)


def _plain(kind: Any, document: Any, where: str) -> Any:
    is_number = isinstance(document, (int, float)) and not isinstance(document, bool)
    if kind is float and is_number:
        return float(document)
    if kind is int and is_number:
        return int(document)
    if kind in (str, bool) and isinstance(document, kind):
        return document
    raise _Unfit(f"{where} is not {getattr(kind, '__name__', kind)}")


def _fields(kind: Any, document: Any, where: str) -> Any:
    if not isinstance(document, dict):
        raise _Unfit(f"{where} is not an object")
    values: Dict[str, Any] = {}
    for field, key, hint, has_default in _plan(kind):
        if key in document:
            values[field] = _value(hint, document[key], f"{where}.{key}")
        elif not has_default:
            raise _Unfit(f"{where}.{key} is missing")
    return kind(**values)


@lru_cache(maxsize=None)
def _plan(kind: Any) -> Tuple[Tuple[str, str, Any, bool], ...]:
    hints = get_type_hints(kind)
    return tuple(
        (
            field.name,
            camel(field.name),
            hints[field.name],
            field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING,
        )
        for field in dataclasses.fields(kind)
    )
