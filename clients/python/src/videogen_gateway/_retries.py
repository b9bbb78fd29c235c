"""Which attempts are repeated, and after which pause: the policy of both twins."""

import random

from ._errors import APIConnectionError, VideogenError

MAX_OBEYED_SECONDS = 60  # a longer `Retry-After` is left to the caller
BUSY_SECONDS = 10  # the pause after a poll that the service was too busy to hold


def backoff(turn: int, first: float, longest: float) -> float:
    """Twice as long at each turn, counted from 1, less up to half by chance, so that a crowd comes apart."""
    return min(longest, first * 2.0 ** min(turn - 1, 30)) * (1 - random.random() / 2)


def pause_before_retry(error: VideogenError, attempt: int, max_retries: int) -> float | None:
    """The seconds before the next attempt; None if there is none. Every call is safe to repeat: it reads, cancels,
    deletes, uploads, or creates with an idempotency key."""
    at_least = error.retry_after or 0
    if not error.is_temporary or attempt > max_retries or at_least > MAX_OBEYED_SECONDS:
        return None
    return max(at_least, backoff(attempt, 0.5, 8))


def pause_of_wait(error: VideogenError, is_over: bool) -> float:
    """A busy service, or one that restarts behind its proxy, does not end a wait; an unreachable one does."""
    if not error.is_temporary or (isinstance(error, APIConnectionError) and not is_over):
        raise error
    return error.retry_after or BUSY_SECONDS
