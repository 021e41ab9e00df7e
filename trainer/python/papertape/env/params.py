"""The environment's parameters, by name; the library's table lists them and checks every value."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from papertape.env.library import LIBRARY, Key, call

VALUE_MAX = 64  # of one value as text
OF_MARKETS = ("features", "first_row", "interval", "min_order_qty", "names", "present", "symbols", "times")


@dataclass(frozen=True)
class Parameter:
    """One key of the table."""

    name: str
    summary: str
    min: float  #: of numbers, and of both ends of ranges
    max: float
    words: tuple[str, ...]  #: of choices; empty for numbers
    whole: bool  #: numbers without a fraction; switches are whole numbers of 0 and 1
    range: bool  #: also (low, high): each episode draws a number evenly from it


def parameters() -> dict[str, Parameter]:
    """Every parameter that an environment takes as a keyword argument, sorted by name."""
    n = ctypes.c_size_t()
    table = LIBRARY.env_params_list(ctypes.byref(n))
    rows = (table[at] for at in range(n.value))
    return {
        row.name.decode(): Parameter(
            row.name.decode(),
            row.about.decode(),
            row.min,
            1.0 if row.kind == Key.SWITCH else row.max,
            tuple(row.words.decode().split()) if row.kind == Key.WORD else (),
            row.kind in (Key.WHOLE, Key.SWITCH),
            row.kind == Key.SPAN,
        )
        for row in rows
    }


def _text(value: object) -> str:
    if getattr(value, "ndim", 0) > 0:
        value = value.tolist() if value.shape == (2,) else f"an array of shape {value.shape}"
    if hasattr(value, "item"):  # of NumPy
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return f"{_text(value[0])}..{_text(value[1])}"
    if isinstance(value, (int, float)):
        return repr(value)
    return str(value)


class Params:
    """A struct env_params; a preset with `values` set. TypeError for an unknown key, ValueError for the rest."""

    def __init__(self, preset: str, values: dict[str, Any]) -> None:
        self.buffer = ctypes.create_string_buffer(LIBRARY.env_struct_size(b"env_params"))
        try:
            call("env_params_preset", str(preset).encode(), self.buffer)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
        for key, value in values.items():
            if key in OF_MARKETS:
                raise TypeError(f"{key}: a Market has it, no environment: Market(columns, names, {key}=...) is right")
            try:
                call("env_params_set", self.buffer, key.encode(), _text(value).encode())
            except KeyError as error:
                raise TypeError(error.args[0]) from None

    def text(self, key: str) -> str:
        value = ctypes.create_string_buffer(VALUE_MAX)
        if not LIBRARY.env_params_get(self.buffer, key.encode(), value, VALUE_MAX):
            raise KeyError(key)
        return value.value.decode()

    def all(self) -> dict[str, str]:
        """Every key's value as text."""
        return {key: self.text(key) for key in parameters()}
