"""What `asyncio` is to the asynchronous twin."""

from collections.abc import Callable
from time import sleep as sleep
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def to_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)
