"""Verification of callbacks: Standard Webhooks, https://www.standardwebhooks.com."""

import re
from collections.abc import Mapping, Sequence

from standardwebhooks import Webhook, WebhookVerificationError

from ._errors import CallbackVerificationError
from .types import TaskRecord


def verify_callback(body: bytes | str, headers: Mapping[str, str], secrets: str | Sequence[str]) -> TaskRecord:
    """Verifies that one of the secrets (`whsec_…`; several during a rotation) signed the callback in the last five
    minutes, and returns its record; raises `CallbackVerificationError` otherwise. `body` is the raw body. The header
    `webhook-id` is the same at every attempt: ignore one that you have processed."""
    known = [secrets] if isinstance(secrets, str) else secrets
    # An empty key would accept any forged signature. The message must not contain the secret.
    if not all(re.fullmatch(r"whsec_[A-Za-z0-9+/]{32,}={0,2}", secret) for secret in known):
        raise ValueError("a callback secret is whsec_ and base64")
    lower = {name.lower(): value for name, value in headers.items()}
    for webhook in map(Webhook, known):
        try:
            record: TaskRecord = webhook.verify(body, lower)["data"]
            return record
        except (WebhookVerificationError, ValueError):  # ValueError: headers or a body that cannot be decoded
            continue
    raise CallbackVerificationError("the callback has no valid and recent signature by a known secret")
