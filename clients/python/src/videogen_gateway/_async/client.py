"""The client. `_sync/client.py` is generated from this file by generate.py, which removes `async` and `await`: users
read and debug plain code in both twins, and they cannot drift apart. What needs no network is in the modules above."""

import copy
import logging
import os
from asyncio import sleep, to_thread
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, closing
from math import inf
from pathlib import Path
from time import monotonic
from typing import Literal, TypeVar, cast

import httpx

from .. import _calls as calls
from .. import types as api
from .._calls import Call, TaskInput
from .._errors import APIConnectionError, TaskUnfinishedError, VideogenError
from .._responses import origin_of
from .._retries import backoff, pause_before_retry, pause_of_wait

T = TypeVar("T")
Self = TypeVar("Self", bound="AsyncVideogen")
Progress = Callable[[api.TaskRecord], None] | None

logger = logging.getLogger("videogen_gateway")

MAX_WAIT = 25 * 3600.0  # seconds: every task has ended after a day
# How long the service holds a poll: shortly if the caller reads progress, else less than the timeouts of proxies.
HOLD_WITH_PROGRESS, HOLD = 1, 25


class AsyncVideogen:
    """A client of one service with one key; by default `VIDEOGEN_BASE_URL` and `VIDEOGEN_API_KEY` of the environment.
    `timeout`: the seconds of one attempt. Every call raises a `VideogenError` if it fails after its retries."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30,
        max_retries: int = 5,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        base_url = base_url or os.environ.get("VIDEOGEN_BASE_URL")
        self._base_url = calls.checked("base_url or VIDEOGEN_BASE_URL", base_url, r"https?://[^/?#@\s]+(/[^?#\s]*)?")
        self._api_key = calls.checked("api_key or VIDEOGEN_API_KEY", api_key or os.environ.get("VIDEOGEN_API_KEY"))
        self._timeout, self._max_retries = timeout, max_retries
        self._http = http_client or httpx.AsyncClient()
        self._owns_http = http_client is None

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._owns_http:
            await self._http.aclose()

    def with_options(self: Self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """This client with other limits, also for a single call: `client.with_options(timeout=5).balance()`."""
        other = copy.copy(self)
        other._timeout = self._timeout if timeout is None else timeout
        other._max_retries = self._max_retries if max_retries is None else max_retries
        other._owns_http = False
        return other

    async def generate(
        self,
        path: str | os.PathLike[str],
        *,
        model: str,
        input: TaskInput,
        callback_url: str | None = None,
        idempotency_key: str | None = None,
        timeout: float = MAX_WAIT,
        on_progress: Progress = None,
    ) -> api.TaskRecord:
        """Creates a task, waits for its end and writes the video to `path`. Raises `TaskFailedError` if it fails. To
        continue after a crash of your program, choose the idempotency key and store it with your order first: the
        repeated call follows the same task, which is charged once. `timeout`: the seconds of the wait."""
        target = calls.writable(path)
        task_id = (await self.create_task(model, input, callback_url, idempotency_key))["taskId"]
        try:
            record = await self.wait(task_id, timeout=timeout, on_progress=on_progress)
            await self._send(calls.download(record, target))
        except VideogenError as error:
            error.task_id = task_id
            raise
        return record

    async def create_task(
        self, model: str, input: TaskInput, callback_url: str | None = None, idempotency_key: str | None = None
    ) -> api.CreatedTask:
        """Creates a task and charges it once: all attempts have the same idempotency key, by default a new one."""
        return await self._send(calls.create_task(model, input, callback_url, idempotency_key))

    async def price(self, model: str, input: TaskInput) -> api.TaskPrice:
        """Returns the price of a request, which it checks as `create_task` does, without creating a task."""
        return await self._send(calls.post(api.TaskPrice, "/api/v1/jobs/price", {"model": model, "input": input}))

    async def get_task(self, task_id: str) -> api.TaskRecord:
        """Returns a task's record, with fresh links."""
        return await self._send(calls.get_task(task_id))

    async def wait(self, task_id: str, *, timeout: float = MAX_WAIT, on_progress: Progress = None) -> api.TaskRecord:
        """Waits until a task has ended, and returns its record: `success` or `fail`. `on_progress` is called with each
        record, about once a second. Raises `TaskUnfinishedError` after `timeout` seconds."""
        deadline = monotonic() + timeout
        longest, early = HOLD if on_progress is None else HOLD_WITH_PROGRESS, 0
        while (left := deadline - (sent_at := monotonic())) > 0:
            try:
                record = await self._send(calls.get_task(task_id, int(min(longest, left))), deadline)
            except VideogenError as error:
                pause = pause_of_wait(error, monotonic() >= deadline)
            else:
                if on_progress is not None:
                    on_progress(record)
                if record["state"] in ("success", "fail"):
                    return record
                # The service responds when the task ends. If it responds earlier, the pauses between polls grow.
                early = early + 1 if monotonic() - sent_at < longest / 2 else 0
                pause = backoff(early, 0.25, 5) if early > 0 else 0
            await sleep(min(pause, max(0, deadline - monotonic())))
        raise TaskUnfinishedError(f"task {task_id} has not ended within {timeout} s")

    async def download(self, task_id: str, path: str | os.PathLike[str]) -> Path:
        """Writes the video of a successful task to `path`, where it appears once it is complete."""
        return await self._send(calls.download(await self.get_task(task_id), Path(path)))

    async def cancel(self, task_id: str) -> api.CancelledTask:
        """Ends an unfinished task and refunds it in full."""
        return await self._send(calls.post(api.CancelledTask, "/api/v1/jobs/cancelTask", {"taskId": task_id}))

    async def delete_content(self, task_id: str) -> api.DeletedTask:
        """Deletes prompt, images, video and callback of a task that has ended. Needs the scope `content:delete`."""
        return await self._send(calls.post(api.DeletedTask, "/api/v1/jobs/deleteTask", {"taskId": task_id}))

    async def list_tasks(
        self,
        *,
        state: Literal["waiting", "queuing", "generating", "success", "fail"] | None = None,
        model: str | None = None,
        fail_code: str | None = None,
        outcome: Literal["cancelled", "rejected", "failed"] | None = None,
        created_by: str | None = None,
        search: str | None = None,
        created_from_ms: int | None = None,
        created_before_ms: int | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[api.ListedTask]:
        """Iterates over the account's tasks, newest first. Pages are requested as they are needed."""
        query: dict[str, str | int | None] = {"state": state, "failCode": fail_code, "outcome": outcome}
        query |= {"model": model, "createdBy": created_by, "search": search}
        query |= {"from": created_from_ms, "to": created_before_ms, "limit": page_size}
        while True:
            page = await self._send(calls.get(api.TaskPage, "/api/v1/jobs/listTasks", query))
            for task in page["tasks"]:
                yield task
            query["cursor"] = page["nextCursor"]
            if page["nextCursor"] is None:
                break

    async def upload(self, file: bytes | str | os.PathLike[str], content_type: str | None = None) -> api.UploadedMedia:
        """Uploads a reference image, video or audio file: its path, or its bytes with their type. The returned `url`
        can be used in the returned `fields` of `input`."""
        return await self._send(await to_thread(calls.upload, file, content_type))

    async def balance(self) -> int:
        """Returns the credits of the account."""
        return (await self._send(calls.get(api.Credits, "/api/v1/credits", {"limit": 1})))["balance"]

    async def models(self) -> api.Catalogue:
        """Returns the models with their prices and input schemas, and the limits of the account."""
        return await self._send(calls.get(api.Catalogue, "/api/v1/models"))

    async def _send(self, call: Call[T], deadline: float = inf) -> T:
        """Sends a call with retries. No attempt begins after the deadline or lasts beyond it."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(call, deadline)
            except VideogenError as error:
                error.idempotency_key = call.headers.get("idempotency-key")
                pause = pause_before_retry(error, attempt, self._max_retries)
                if pause is None or monotonic() + pause >= deadline:
                    raise
                logger.info("request failed, retrying in %.1f s: %s", pause, error)
            await sleep(pause)

    async def _attempt(self, call: Call[T], deadline: float) -> T:
        url, headers = call.addressed(self._base_url, self._api_key)
        stall = self._timeout + call.hold
        limit = max(0, min(stall, deadline - monotonic()))
        try:
            request = self._http.build_request(
                call.method, url, params=call.params, headers=headers, content=call.content, timeout=limit
            )
            # Only links may redirect: a redirected POST would become a GET.
            response = await self._http.send(request, stream=True, follow_redirects=call.url == url)
            end = min(deadline, monotonic() + (call.seconds or stall))  # begins here, after an upload of any length
            async with aclosing(response):
                with closing(call.open_sink(response)) as sink:
                    async for chunk in response.aiter_bytes():
                        sink.write(chunk)
                        if monotonic() > end:
                            raise httpx.ReadTimeout("the response took too long", request=request)
                    return cast("T", sink.finish())
        except httpx.RequestError as error:
            raise APIConnectionError(f"no response of {origin_of(error.request.url)}: {error!r}") from error
