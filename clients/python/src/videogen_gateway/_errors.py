"""The errors of this package, which also raises `ValueError` for invalid arguments and `OSError` for files."""

from collections.abc import Mapping
from typing import Any

from .types import ErrorCode, FieldError, TaskRecord


class VideogenError(Exception):
    """The base of all errors. `is_temporary`: the same call may succeed later. A failed create has its idempotency key:
    a repetition with it is charged at most once. A `generate()` that failed after its create has the task's id."""

    is_temporary = False
    idempotency_key: str | None = None
    task_id: str | None = None
    retry_after: float | None = None


class APIConnectionError(VideogenError):
    """There was no complete response in time."""

    is_temporary = True


class APIStatusError(VideogenError):
    """The service, or a proxy before it, returned an error. `code` is a stable string to branch on, such as
    `insufficient_credits`, and None from a proxy; a newer service may have more. `request_id` identifies the request
    in the log of the service. `retry_after`: the seconds of `Retry-After`."""

    status = 0
    code: ErrorCode | None = None
    data: Mapping[str, Any] = {}
    request_id: str | None = None

    @property
    def errors(self) -> list[FieldError]:
        """Every invalid field of a request that was rejected with 422; otherwise empty."""
        return list(self.data.get("errors", []))

    def __str__(self) -> str:
        details = "".join(f"; {one['path']}: {one['message']}" for one in self.errors)
        return f"{self.status} {self.code or 'error'}: {self.args[0]}{details}"


class AuthenticationError(APIStatusError):
    """401: the key is invalid."""


class InsufficientCreditsError(APIStatusError):
    """402: the balance is too low. `data` has `required` and `balance`."""


class PermissionDeniedError(APIStatusError):
    """403: the key lacks a scope, or the account is suspended."""


class NotFoundError(APIStatusError):
    """404 and 410: the task is unknown or another account's, or its content was deleted."""

    status = 404


class ConflictError(APIStatusError):
    """409: for example, the idempotency key was used for another request."""


class InvalidRequestError(APIStatusError):
    """400, 413, 415 and 422: `errors` has each invalid field."""


class RateLimitError(APIStatusError):
    """429: too many requests or unfinished tasks."""


class ServerError(APIStatusError):
    """5xx: the service or its proxy failed."""


class TaskFailedError(VideogenError):
    """The task failed and was refunded in full. `record` has `failCode` and `failMsg`."""

    def __init__(self, record: TaskRecord) -> None:
        super().__init__(record)
        self.record = record

    def __str__(self) -> str:
        return f"task {self.record['taskId']} failed: {self.record['failCode']}: {self.record['failMsg']}"


class TaskUnfinishedError(VideogenError):
    """The task did not end within the time limit, or has no video yet. It continues, and can be waited for again."""


class CallbackVerificationError(VideogenError):
    """The callback has no valid and recent signature."""


status_errors: dict[int, type[APIStatusError]] = dict.fromkeys(range(500, 600), ServerError)
status_errors |= dict.fromkeys((400, 413, 415, 422), InvalidRequestError) | dict.fromkeys((404, 410), NotFoundError)
status_errors |= {401: AuthenticationError, 402: InsufficientCreditsError, 403: PermissionDeniedError}
status_errors |= {409: ConflictError, 429: RateLimitError}
