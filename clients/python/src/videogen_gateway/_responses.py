"""Where the body of a response goes: into memory as JSON, or into a file. `close` comes last in any case."""

import json
import os
import secrets
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, cast

import httpx

from ._errors import APIConnectionError, APIStatusError, status_errors


class JsonSink:
    """Collects an envelope, `{code, msg, data}`, and returns its `data`."""

    def __init__(self, response: httpx.Response) -> None:
        self._response, self._body = response, bytearray()

    def write(self, chunk: bytes) -> None:
        self._body += chunk

    def finish(self) -> Any:
        status = self._response.status_code
        try:
            envelope = cast("dict[str, Any]", json.loads(self._body))
            if envelope["code"] != status or not {"msg", "data"} <= envelope.keys():
                raise ValueError
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._error({"msg": f"{origin_of(self._response.url)} did not respond as Videogen does"}) from None
        if status != 200:
            raise self._error(envelope)
        return envelope["data"]

    def close(self) -> None:
        self._body.clear()

    def _error(self, envelope: dict[str, Any]) -> APIStatusError:
        status, headers = self._response.status_code, self._response.headers
        error = status_errors.get(status, APIStatusError)(envelope["msg"])
        error.status, error.code, error.data = status, envelope.get("error"), envelope.get("data", {})
        error.is_temporary = status in (429, 502, 503, 504)
        error.request_id, error.retry_after = headers.get("x-request-id"), seconds_of(headers.get("retry-after", ""))
        return error


class FileSink:
    """Writes a temporary file beside its path, and renames it once it is complete, so there is never half a video."""

    def __init__(self, path: Path, size: int | None) -> None:
        self._path, self._size = path, size
        self._part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        self._file = self._part.open("xb")

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)

    def finish(self) -> Any:
        written = self._file.tell()
        if self._size not in (None, written):
            raise APIConnectionError(f"the video ended after {written} of {self._size} bytes")
        self._file.close()
        os.replace(self._part, self._path)
        return self._path

    def close(self) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)


def seconds_of(retry_after: str) -> float | None:
    """`Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3)."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


def origin_of(url: httpx.URL) -> str:
    """Only the origin is shown, because the rest of a link is a secret."""
    return f"{url.scheme}://{url.netloc.decode()}"
