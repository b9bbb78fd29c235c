"""Uses videogen-gateway against a service that follows a script: `played.py FOLDER`. Both twins pass the same checks.

Pauses take no time here: they are recorded. Prints the names of the checks; one that fails ends it with an error."""

import asyncio
import json
import pickle
import sys
import threading
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, time
from typing import Any

import videogen_gateway as vg
from videogen_gateway._async import client as async_client
from videogen_gateway._sync import client as sync_client

folder = Path(sys.argv[1])
slept: list[float] = []
task = {"model": "m", "input": {"prompt": "a boat"}}
created = {"taskId": "t1", "creditsCharged": 132}


async def no_sleep(seconds: float) -> None:
    slept.append(seconds)
    await asyncio.sleep(0)


sync_client.sleep = slept.append  # type: ignore[attr-defined]
async_client.sleep = no_sleep  # type: ignore[attr-defined]


class Service:
    """Takes one step of the script for each request; the last one is repeated."""

    def __init__(self, *script: Any) -> None:
        self.seen: list[Any] = []
        self.script = script

    def __enter__(self) -> "Service":
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                step = service.script[min(len(service.seen), len(service.script) - 1)]
                service.seen.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                step(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()
        slept.clear()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def raw(status: int, body: bytes, length: int | None = None, **headers: str) -> Any:
    def step(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in {"content_length": str(len(body) if length is None else length), **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)
        request.close_connection = True

    return step


def answer(status: int, data: Any = None, error: str = "e", **headers: str) -> Any:
    more = {} if status == 200 else {"error": error}
    body = json.dumps({"code": status, "msg": f"message {status}", "data": data or {}, **more}).encode()
    return raw(status, body, content_type="application/json", x_request_id="r-1", **headers)


def hang_up(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True


def record(url: str = "", state: str = "success", size: int = 4) -> Any:
    result = {"resultUrls": [url] if url else [], "video": {"bytes": size}}
    return answer(200, {"taskId": "t1", "state": state, "resultJson": result, "failCode": None, "failMsg": None})


@contextmanager
def raises(kind: Any) -> Any:
    found: list[Any] = []
    try:
        yield found
    except kind as error:
        found.append(error)
    else:
        raise AssertionError(f"no {kind}")


async def a_lost_response_is_retried_with_the_same_key_and_bytes(twin: Any) -> None:
    with Service(hang_up, hang_up, answer(200, created)) as service:
        assert await twin(service.url, "create_task", **task) == created
    assert len(service.seen) == 3 and all(one == service.seen[0] for one in service.seen)
    [_, path, headers, body] = service.seen[0]
    assert (path, len(headers["idempotency-key"])) == ("/api/v1/jobs/createTask", 32)
    assert headers["authorization"] == "Bearer vg_test" and json.loads(body)["input"] == task["input"]
    assert [0.25 <= slept[0] <= 0.5, 0.5 <= slept[1] <= 1] == [True, True], slept


async def temporary_errors_are_retried_also_of_a_proxy(twin: Any) -> None:
    for status in (429, 502, 503, 504):
        with Service(answer(status), raw(status, b"<h1>sorry</h1>"), answer(200, {"balance": 7})) as service:
            assert await twin(service.url, "balance") == 7
        assert len(service.seen) == 3


async def other_errors_are_not_retried(twin: Any) -> None:
    classes = {400: vg.InvalidRequestError, 401: vg.AuthenticationError, 402: vg.InsufficientCreditsError}
    classes |= {403: vg.PermissionDeniedError, 404: vg.NotFoundError, 409: vg.ConflictError, 410: vg.NotFoundError}
    classes |= {413: vg.InvalidRequestError, 422: vg.InvalidRequestError, 418: vg.APIStatusError, 500: vg.ServerError}
    for status, kind in classes.items():
        with Service(answer(status, {"a": 1}, "code")) as service, raises(kind) as [*found]:
            await twin(service.url, "create_task", idempotency_key="order-7", **task)
        assert len(service.seen) == 1
    with Service(answer(402, {"required": 5}, "insufficient_credits")) as service, raises(vg.VideogenError) as found:
        await twin(service.url, "create_task", idempotency_key="order-7", **task)
    [error] = found
    assert (error.status, error.code, error.request_id) == (402, "insufficient_credits", "r-1")
    assert error.data == {"required": 5}
    assert (error.idempotency_key, error.is_temporary, error.errors) == ("order-7", False, [])
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error) and str(error).startswith("402 insufficient_credits")


async def a_response_of_another_program_is_no_success(twin: Any) -> None:
    for body in (b"<h1>hello</h1>", b"[]", b"{}", b'{"code":500,"msg":"","data":{}}', b"[" * 100_000):
        with Service(raw(200, body)) as service, raises(vg.APIStatusError) as found:
            await twin(service.url, "balance")
        assert "did not respond as Videogen does" in str(found[0]) and len(service.seen) == 1


async def a_redirect_of_the_api_is_not_followed(twin: Any) -> None:
    with Service(answer(200, created)) as other:
        with Service(raw(307, b"", location=other.url)) as service, raises(vg.APIStatusError) as found:
            await twin(service.url, "create_task", **task)
        assert found[0].status == 307 and other.seen == []


async def retry_after_is_obeyed_up_to_a_minute(twin: Any) -> None:
    with Service(answer(503, retry_after="9"), answer(200, {"balance": 7})) as service:
        assert await twin(service.url, "balance") == 7
    assert slept == [9]
    with Service(answer(429, retry_after=formatdate(time() + 50)), answer(200, {"balance": 7})) as service:
        assert await twin(service.url, "balance") == 7
    assert 8 < slept[0] <= 50, slept
    for late in ("61", formatdate(time() + 3600)):
        with Service(answer(429, retry_after=late)) as service, raises(vg.RateLimitError) as found:
            await twin(service.url, "balance")
        assert found[0].retry_after > 60 and found[0].is_temporary and slept == []


async def retries_end(twin: Any) -> None:
    with Service(hang_up) as service, raises(vg.APIConnectionError) as found:
        await twin(service.url, "create_task", options={"max_retries": 2}, **task)
    assert len(service.seen) == 3 and found[0].idempotency_key == service.seen[0][2]["idempotency-key"]
    assert service.url in str(found[0])


async def a_call_has_a_time_limit_also_for_a_body_that_trickles(twin: Any) -> None:
    done = threading.Event()

    def trickle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while not done.wait(0.02):
            try:
                request.wfile.write(b" ")
            except OSError:
                break

    for step in (lambda _: done.wait(), trickle):
        with Service(step) as service, raises(vg.APIConnectionError):
            try:
                await twin(service.url, "balance", options={"timeout": 0.2, "max_retries": 0})
            finally:
                done.set()
        done.clear()


async def an_upload_may_take_longer_than_the_limit_of_its_response(twin: Any) -> None:
    jumps: list[float] = []

    def take_an_hour(request: BaseHTTPRequestHandler) -> None:
        jumps.append(3600)
        answer(200, {"url": "u"})(request)

    sync_client.monotonic = async_client.monotonic = lambda: monotonic() + sum(jumps)  # type: ignore[attr-defined]
    try:
        with Service(take_an_hour) as service:
            assert await twin(service.url, "upload", file=b"x", content_type="image/png") == {"url": "u"}
        assert len(service.seen) == 1
    finally:
        sync_client.monotonic = async_client.monotonic = monotonic  # type: ignore[attr-defined]


async def a_wait_polls_outlasts_a_busy_service_and_ends(twin: Any) -> None:
    busy = [answer(503, retry_after="7")] * 6
    with Service(record(state="generating"), *busy, record()) as service:
        assert (await twin(service.url, "wait", task_id="t1"))["state"] == "success"
    assert {one[2]["prefer"] for one in service.seen} == {"wait=25"} and slept[-1] == 7
    states: list[str] = []
    with Service(record(state="queuing"), record(state="generating"), record(state="fail")) as service:
        await twin(service.url, "wait", task_id="t1", on_progress=lambda one: states.append(one["state"]))
    assert states == ["queuing", "generating", "fail"] and service.seen[0][2]["prefer"] == "wait=1"
    with Service(answer(404)) as service, raises(vg.NotFoundError):
        await twin(service.url, "wait", task_id="t1")
    with Service(hang_up) as service, raises(vg.APIConnectionError):
        await twin(service.url, "wait", task_id="t1", timeout=10_000)
    with Service(record(state="generating"), record()) as service:
        assert (await twin(service.url, "wait", task_id="t1", timeout=float("inf")))["state"] == "success"
    began = monotonic()
    with Service(record(state="generating")) as service, raises(vg.TaskUnfinishedError):
        await twin(service.url, "wait", task_id="t1", timeout=0.3)
    assert monotonic() - began >= 0.3


async def a_broken_or_short_download_is_retried_and_never_seen(twin: Any) -> None:
    with Service(raw(200, b"fi", length=4), raw(200, b"fil"), raw(503, b"proxy"), raw(200, b"film")) as media:
        with Service(record(f"{media.url}/v.mp4?signature=a%2Fb")) as service:
            path = folder / "video.mp4"
            assert await twin(service.url, "download", task_id="t1", path=path) == path
    assert path.read_bytes() == b"film" and len(media.seen) == 4
    assert media.seen[0][1] == "/v.mp4?signature=a%2Fb" and "authorization" not in media.seen[0][2]
    with Service(raw(200, b"fil")) as media, Service(record(media.url)) as service, raises(vg.APIConnectionError):
        await twin(service.url, "download", task_id="t1", path=path, options={"max_retries": 1})
    assert path.read_bytes() == b"film" and list(folder.iterdir()) == [path]
    path.unlink()


async def a_link_may_lead_to_a_bucket(twin: Any) -> None:
    with Service(raw(200, b"film")) as bucket, Service(raw(302, b"", location=f"{bucket.url}/b?X-Sig=a%2Fb")) as media:
        with Service(record(media.url)) as service:
            path = await twin(service.url, "download", task_id="t1", path=folder / "video.mp4")
    assert path.read_bytes() == b"film" and bucket.seen[0][1] == "/b?X-Sig=a%2Fb"
    path.unlink()
    with Service(answer(410, {}, "media_deleted")) as media, Service(record(media.url)) as service:
        with raises(vg.NotFoundError) as found:
            await twin(service.url, "download", task_id="t1", path=path)
    assert found[0].code == "media_deleted" and len(media.seen) == 1 and not path.exists()
    with Service(record()) as service, raises(vg.NotFoundError):
        await twin(service.url, "download", task_id="t1", path=path)


async def invalid_arguments_are_found_before_a_request(twin: Any) -> None:
    for url in ("", "example.com", "ftp://a", "http://a:b@c", "https://a?b", "https://a#b"):
        with raises(ValueError):
            await twin(url, "balance")
    calls = [("create_task", {**task, "idempotency_key": "é"})]
    calls += [("create_task", {"model": "m", "input": {"prompt": "p", "duration": float("nan")}})]
    with Service(answer(200, created)) as service:
        for name, arguments in calls:
            with raises(ValueError):
                await twin(service.url, name, **arguments)
        with raises(OSError):
            await twin(service.url, "upload", file=folder / "missing.png")
    assert service.seen == []


async def sync_twin(url: str, name: str, options: Any = None, **arguments: Any) -> Any:
    with vg.Videogen(url, "vg_test") as client:
        return getattr(client.with_options(**(options or {})), name)(**arguments)


async def async_twin(url: str, name: str, options: Any = None, **arguments: Any) -> Any:
    async with vg.AsyncVideogen(url, "vg_test") as client:
        return await getattr(client.with_options(**(options or {})), name)(**arguments)


async def main() -> None:
    checks = [value for name, value in globals().items() if getattr(value, "__annotations__", {}).get("twin")]
    for check in checks:
        for twin in (sync_twin, async_twin):
            await check(twin)
    print(json.dumps([check.__name__ for check in checks]))


asyncio.run(main())
