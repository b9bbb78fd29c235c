"""What each call sends, and where its response goes: shared by both twins."""

import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Generic, TypeVar

import httpx

from . import types as api
from ._errors import NotFoundError, TaskFailedError, TaskUnfinishedError
from ._responses import FileSink, JsonSink

T = TypeVar("T")

TaskInput = api.TaskRequestInput | Mapping[str, object]
"""The fields of `input` of the usual models, or those of any other model: `models()` has their schemas."""

# The service judges the content, so a file may have another type, or none.
IMAGES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}
VIDEOS = {".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm"}
MEDIA_TYPES = IMAGES | VIDEOS | {".mp3": "audio/mpeg", ".wav": "audio/wav", ".m4a": "audio/mp4"}


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, built once for all attempts, so that a repeated create has the same bytes. `url` is a path, or a link.
    `hold`: the seconds for which the service may hold its response. `seconds`: the limit of the whole response."""

    method: str
    url: str
    headers: Mapping[str, str]
    params: Mapping[str, str | int] | None = None
    content: bytes | None = None
    open_sink: Callable[[httpx.Response], JsonSink | FileSink] = JsonSink
    hold: int = 0
    seconds: float | None = None

    def addressed(self, base_url: str, api_key: str) -> tuple[str, Mapping[str, str]]:
        """URL and headers. A link is signed, and may lead to a bucket: the key is not sent there."""
        if not self.url.startswith("/"):
            return self.url, self.headers
        own = {"authorization": f"Bearer {api_key}", "videogen-dialect": "native"}
        own["user-agent"] = f"videogen-gateway/{version('videogen-gateway')}"
        return base_url.rstrip("/") + self.url, {**self.headers, **own}


def get(returned: type[T], path: str, params: Mapping[str, str | int | None] | None = None) -> Call[T]:
    return Call("GET", path, {}, {name: value for name, value in (params or {}).items() if value is not None})


def get_task(task_id: str, hold: int = 0) -> Call[api.TaskRecord]:
    headers = {"prefer": f"wait={hold}"} if hold > 0 else {}
    return Call("GET", "/api/v1/jobs/recordInfo", headers, {"taskId": task_id}, hold=hold)


def post(returned: type[T], path: str, body: Mapping[str, object], key: str | None = None) -> Call[T]:
    content = json.dumps(body, allow_nan=False).encode()  # Python would write NaN, which is not JSON
    headers = {"content-type": "application/json", **({} if key is None else {"idempotency-key": key})}
    return Call("POST", path, headers, content=content)


def create_task(model: str, input: TaskInput, callback_url: str | None, key: str | None) -> Call[api.CreatedTask]:
    key = secrets.token_hex(16) if key is None else checked("idempotency_key", key)
    body = {"model": model, "input": input, "callBackUrl": callback_url}
    return post(api.CreatedTask, "/api/v1/jobs/createTask", body, key)


def upload(file: bytes | str | PathLike[str], content_type: str | None) -> Call[api.UploadedMedia]:
    """Reads the file, at most 100 MB, so that each attempt can send it from its start."""
    known = MEDIA_TYPES.get("" if isinstance(file, bytes) else Path(file).suffix.lower())
    media_type = content_type or known or "application/octet-stream"
    content = file if isinstance(file, bytes) else Path(file).read_bytes()
    return Call("POST", "/api/v1/uploads", {"content-type": media_type}, content=content)


def download(record: api.TaskRecord, path: Path) -> Call[Path]:
    """Fetches the video of a record. Raises if there is none."""
    if record["state"] == "fail":
        raise TaskFailedError(record)
    if record["state"] != "success":
        raise TaskUnfinishedError(f"task {record['taskId']} is {record['state']} and has no video yet")
    result = record["resultJson"]
    if not result["resultUrls"]:
        raise NotFoundError(f"the video of task {record['taskId']} was deleted")
    size = result["video"]["bytes"] if "video" in result else None

    def open_sink(response: httpx.Response) -> JsonSink | FileSink:
        return FileSink(path, size) if response.is_success else JsonSink(response)

    url, headers = result["resultUrls"][0], {"accept-encoding": "identity"}
    return Call("GET", url, headers, open_sink=open_sink, seconds=600)


def writable(path: str | PathLike[str]) -> Path:
    """Finds a missing folder before the task is paid for."""
    if not Path(path).parent.is_dir() or Path(path).is_dir():
        raise FileNotFoundError(f"no file can be written to {path}")
    return Path(path)


def checked(name: str, value: str | None, pattern: str = r"[\x21-\x7e]{1,255}") -> str:
    if not re.fullmatch(pattern, value or "", re.IGNORECASE):
        raise ValueError(f"{name} is missing or invalid: it must match {pattern}")
    return value or ""
