"""Uses every call of videogen-gateway against a real service, once with each twin: `exercise.py OPTIONS_JSON FOLDER`.

Prints what the test compares with the service's own books, as JSON. An assertion that fails ends it with an error."""

import asyncio
import json
import queue
import runpy
import sys
import threading
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

import videogen_gateway as vg

MODEL = "videogen-2.0-fast"
options = json.loads(sys.argv[1])
folder = Path(sys.argv[2])


def input_of(prompt: str, **more: Any) -> dict[str, Any]:
    return {"prompt": f"[[instant]] {prompt}", "duration": 4, **more}


class Blocking:
    """An AsyncVideogen that is called like the other twin, so that one program exercises both."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = vg.AsyncVideogen(*args, **kwargs)

    def __enter__(self) -> "Blocking":
        self._loop.run_until_complete(self._client.__aenter__())
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.run_until_complete(self._client.__aexit__(*error))
        self._loop.close()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *args, **kwargs: self._loop.run_until_complete(method(*args, **kwargs))

    def list_tasks(self, **filters: Any) -> list[Any]:
        async def collected() -> list[Any]:
            return [task async for task in self._client.list_tasks(**filters)]

        return self._loop.run_until_complete(collected())


@contextmanager
def server(answer: Any) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer(self, self.rfile.read(int(self.headers["content-length"])))

        def log_message(self, *_: object) -> None: ...

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        listening.server_close()


def error_of(kind: type[vg.VideogenError], call: Any) -> Any:
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def generate_to_a_file(client: Any, name: str) -> dict[str, Any]:
    states: list[str] = []
    path = folder / f"{name}.mp4"
    before = client.balance()
    price = client.price(MODEL, input_of("a boat"))["credits"]
    request = {"model": MODEL, "input": input_of("a boat"), "idempotency_key": f"order-{name}"}
    record = client.generate(path, on_progress=lambda one: states.append(one["state"]), **request)
    assert record["state"] == states[-1] == "success", states
    assert price == record["creditsCharged"] == before - client.balance()
    # Repeated after a crash, the same order is the same task.
    path.unlink()
    assert client.generate(path, **request)["taskId"] == record["taskId"]
    assert client.balance() == before - price
    assert path.stat().st_size == record["resultJson"]["video"]["bytes"]
    again = client.download(record["taskId"], folder / f"{name}-again.mp4")
    assert again.read_bytes() == path.read_bytes()
    assert [one.name for one in folder.glob(f".{name}*")] == [], "no part of a file is left"
    return {"taskId": record["taskId"], "path": str(path), "credits": price}


def refuse_to_pay_for_nothing(client: Any) -> None:
    before = client.balance()
    for path in (folder, folder / "missing/video.mp4"):
        try:
            client.generate(path, model=MODEL, input=input_of("never"))
        except FileNotFoundError:
            continue
        raise AssertionError(f"{path} was accepted")
    assert client.balance() == before


def cancel_with_refund(client: Any) -> str:
    before = client.balance()
    task = client.create_task(MODEL, input_of("[[slow 600s]] c"))
    assert client.balance() == before - task["creditsCharged"]
    error = error_of(vg.TaskUnfinishedError, lambda: client.download(task["taskId"], folder / "none.mp4"))
    assert "no video yet" in str(error)
    error_of(vg.TaskUnfinishedError, lambda: client.wait(task["taskId"], timeout=0.5))
    cancelled = client.cancel(task["taskId"])
    assert (cancelled["cancelled"], cancelled["creditsRefunded"]) == (True, task["creditsCharged"])
    assert client.balance() == before
    record = client.get_task(task["taskId"])
    assert record["failCode"] == "cancelled"
    failed = error_of(vg.TaskFailedError, lambda: client.download(task["taskId"], folder / "none.mp4"))
    assert failed.record["creditsRefunded"] == task["creditsCharged"]
    deleted = client.delete_content(task["taskId"])
    assert client.delete_content(task["taskId"]) == deleted
    return str(task["taskId"])


def fail_with_refund(client: Any) -> None:
    before = client.balance()
    error = error_of(
        vg.TaskFailedError, lambda: client.generate(folder / "none.mp4", model=MODEL, input=input_of("[[reject]] d"))
    )
    assert error.task_id == error.record["taskId"] and error.record["failCode"] in str(error)
    assert client.balance() == before


def upload_and_use(client: Any) -> str:
    media = client.upload(options["image"])
    assert media["kind"] == "image" and "imageUrls" in media["fields"]
    as_bytes = client.upload(Path(options["image"]).read_bytes(), content_type="image/jpeg")
    task = client.create_task(MODEL, input_of("with images", imageUrls=[media["url"], as_bytes["url"]]))
    assert client.wait(task["taskId"])["state"] == "success"
    refused = error_of(vg.InvalidRequestError, lambda: client.upload(b"no image", content_type="image/jpeg"))
    assert refused.code == "invalid_request", refused
    return str(task["taskId"])


def list_over_pages(client: Any, expected: list[str]) -> None:
    listed = list(client.list_tasks(page_size=1))
    assert [task["taskId"] for task in listed] == expected, listed
    finished = list(client.list_tasks(state="fail", fail_code="cancelled", created_from_ms=listed[-1]["createTime"]))
    assert [task["taskId"] for task in finished] == [one for one in expected if one == options["cancelled"]], finished
    assert list(client.list_tasks(created_before_ms=listed[-1]["createTime"])) == []


def refusals(client: Any, twin: Any) -> None:
    invalid = error_of(vg.InvalidRequestError, lambda: client.create_task(MODEL, {"prompt": "", "duration": 99}))
    assert [one["path"] for one in invalid.errors] == ["input.prompt", "input.duration"]
    assert (invalid.status, invalid.code) == (422, "invalid_request") and len(invalid.request_id) == 36
    assert "input.duration" in str(invalid) and invalid.idempotency_key
    assert error_of(vg.NotFoundError, lambda: client.cancel("unknown")).code == "task_not_found"
    reused = {"idempotency_key": f"order-{options['name']}"}
    assert error_of(vg.ConflictError, lambda: client.create_task(MODEL, input_of("other"), **reused)).code == (
        "idempotency_key_reused"
    )
    with twin(options["baseUrl"], options["poorKey"]) as poor:
        error = error_of(vg.InsufficientCreditsError, lambda: poor.create_task(MODEL, input_of("x")))
        assert (error.status, error.code, error.data) == (402, "insufficient_credits", {"required": 132, "balance": 10})
    with twin(options["baseUrl"], "vg_no") as stranger:
        assert error_of(vg.AuthenticationError, stranger.models).code == "unauthorized"


def verify_a_real_callback(client: Any) -> str:
    received: queue.Queue[tuple[bytes, dict[str, str]]] = queue.Queue()

    def answer(request: BaseHTTPRequestHandler, body: bytes) -> None:
        received.put((body, dict(request.headers)))
        request.send_response(204)
        request.end_headers()

    with server(answer) as url:
        task = client.create_task(MODEL, input_of("called back"), callback_url=url)
        body, headers = received.get()
    secrets = options["secrets"]
    other = "whsec_" + "A" * 43 + "="
    assert vg.verify_callback(body, headers, secrets)["taskId"] == task["taskId"]
    assert vg.verify_callback(body.decode(), headers, [other, *secrets])["state"] == "success"
    receive = runpy.run_path(options["receiver"])["receive"]
    lower = {name.lower(): value for name, value in headers.items()}
    assert [receive(body, lower), receive(body, lower), receive(body + b" ", lower)] == [204, 204, 400]
    late = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    broken = [{}, late, {**headers, "webhook-signature": "v1"}, {**headers, "webhook-signature": "v1,é"}]
    forged = [(body.replace(b"success", b"succe55"), headers), (b"\xff", headers), *((body, one) for one in broken)]
    for one in forged:
        error_of(vg.CallbackVerificationError, lambda one=one: vg.verify_callback(*one, secrets))
    error_of(vg.CallbackVerificationError, lambda: vg.verify_callback(body, headers, other))
    for secret in ("", "whsec_", "hunter2", "whsec_c2hvcnQ="):
        try:
            vg.verify_callback(body, headers, secret)
        except ValueError as error:
            assert secret == "" or "hunter2" not in str(error)
        else:
            raise AssertionError(secret)
    return str(task["taskId"])


def survive_lost_responses(twin: Any) -> dict[str, Any]:
    """A proxy passes creates on, but breaks the connection instead of returning the first two responses."""
    keys: list[str] = []

    def answer(request: BaseHTTPRequestHandler, body: bytes) -> None:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
        reply = httpx.post(options["baseUrl"] + request.path, headers=headers, content=body)
        keys.append(headers["idempotency-key"])
        if len(keys) < 3:
            request.close_connection = True
            return
        request.send_response(reply.status_code)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(reply.content)))
        request.end_headers()
        request.wfile.write(reply.content)

    with server(answer) as url, twin(url, options["key"]) as client:
        task = client.create_task(MODEL, input_of("once"))
    assert len(keys) == 3 and len(set(keys)) == 1, keys
    return {"taskId": task["taskId"], "creates": len(keys)}


def read_types_at_run_time() -> None:
    """As pydantic and other programs do. Python 3.10 needs typing_extensions for it."""
    if sys.version_info >= (3, 11):
        assert "resultUrls" in typing.get_type_hints(typing.get_type_hints(vg.types.TaskRecord)["resultJson"])


def main(twin: Any) -> None:
    read_types_at_run_time()
    name = options["name"]
    with twin(options["baseUrl"], options["key"]) as client:
        video = generate_to_a_file(client, name)
        refuse_to_pay_for_nothing(client)
        cancelled = cancel_with_refund(client)
        uploaded = upload_and_use(client)
        called = verify_a_real_callback(client)
        lost = survive_lost_responses(twin)
        assert client.wait(lost["taskId"])["state"] == "success"
        options["cancelled"] = cancelled
        list_over_pages(client, [lost["taskId"], called, uploaded, cancelled, video["taskId"]])
        fail_with_refund(client)
        refusals(client, twin)
        assert MODEL in [one["model"] for one in client.models()["models"]]
        assert client.balance() == options["credits"] - 4 * video["credits"]
    print(json.dumps({"video": video, "cancelled": cancelled, "lost": lost}))


main({"sync": vg.Videogen, "async": Blocking}[options["twin"]])
