# Written by generate.py from openapi.json; do not edit. The types of the service's requests and responses.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict
import sys
from typing import TYPE_CHECKING

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class TaskRequestInput(TypedDict):
    prompt: str
    resolution: NotRequired[Literal["720p"] | None]
    """Default 720p."""
    duration: NotRequired[float | None]
    """Seconds, rounded half up to a whole number; default 5."""
    ratio: NotRequired[Literal["adaptive", "16:9", "9:16", "1:1", "4:3", "3:4", "21:9"] | None]
    """Default 16:9; `adaptive` takes the ratio nearest to the first image, and is the default with a first or last frame."""
    generateAudio: NotRequired[bool | None]
    """Default true."""
    imageUrls: NotRequired[list[str] | None]
    """Reference images; none for text-to-video."""


class TaskRequest(TypedDict):
    model: Literal["videogen-2.0", "videogen-2.0-fast"]
    input: TaskRequestInput
    callBackUrl: NotRequired[str | None]
    """Receives a callback when the task succeeds or fails."""


class CreatedTask(TypedDict):
    taskId: str
    creditsCharged: int


class TaskRecordParamInput(TypedDict):
    prompt: str
    negativePrompt: NotRequired[str]
    resolution: Literal["480p", "540p", "720p", "768p", "1080p", "1440p", "2160p"]
    duration: int
    """Whole seconds."""
    ratio: Literal[
        "adaptive",
        "16:9",
        "9:16",
        "1:1",
        "4:3",
        "3:4",
        "21:9",
        "9:21",
        "3:2",
        "2:3",
        "5:4",
        "4:5",
    ]
    generateAudio: bool
    imageUrls: list[str]
    firstFrameUrl: NotRequired[str]
    lastFrameUrl: NotRequired[str]
    videoUrls: NotRequired[list[str]]
    audioUrls: NotRequired[list[str]]
    seed: NotRequired[int]
    options: NotRequired[dict[str, bool | float | str]]


class TaskRecordParam(TypedDict):
    model: str
    input: TaskRecordParamInput
    callBackUrl: NotRequired[str]
    requestedModel: NotRequired[str]
    """The name by which a client of another API or dialect named the model."""
    endUser: NotRequired[str]
    """Only of tasks created through an API with such a field."""


class TaskRecordResultJsonVideo(TypedDict):
    """Measured from the stored video; absent until success."""

    width: int
    height: int
    seconds: float
    framesPerSecond: float
    hasAudio: bool
    bytes: int


class TaskRecordResultJson(TypedDict):
    resultUrls: list[str]
    """Freshly signed links; empty until success."""
    lastFrameUrl: NotRequired[str]
    """A freshly signed link to the last frame (JPEG), for models that store it."""
    video: NotRequired[TaskRecordResultJsonVideo]
    """Measured from the stored video; absent until success."""


class TaskRecord(TypedDict):
    taskId: str
    model: str
    state: Literal["waiting", "queuing", "generating", "success", "fail"]
    """`success` and `fail` are final and never change."""
    progress: int
    param: TaskRecordParam
    resultJson: TaskRecordResultJson
    failCode: (
        Literal[
            "content_rejected",
            "image_unreachable",
            "image_invalid",
            "media_unreachable",
            "media_invalid",
            "provider_rejected",
            "provider_unavailable",
            "timeout",
            "result_invalid",
            "cancelled",
            "terminated",
            "internal",
        ]
        | None
    )
    failMsg: str | None
    creditsCharged: int
    creditsRefunded: int
    """All credits of a failed task. Of a success, the difference of the price if its model refunds what a video lacks."""
    costTime: int | None
    """Milliseconds from the start of generation to the end."""
    createTime: int
    """Unix milliseconds, as every time here."""
    updateTime: int
    completeTime: int | None


class ListedTaskParamInput(TypedDict):
    prompt: str
    negativePrompt: NotRequired[str]
    resolution: Literal["480p", "540p", "720p", "768p", "1080p", "1440p", "2160p"]
    duration: int
    """Whole seconds."""
    ratio: Literal[
        "adaptive",
        "16:9",
        "9:16",
        "1:1",
        "4:3",
        "3:4",
        "21:9",
        "9:21",
        "3:2",
        "2:3",
        "5:4",
        "4:5",
    ]
    generateAudio: bool
    imageUrls: list[str]
    firstFrameUrl: NotRequired[str]
    lastFrameUrl: NotRequired[str]
    videoUrls: NotRequired[list[str]]
    audioUrls: NotRequired[list[str]]
    seed: NotRequired[int]
    options: NotRequired[dict[str, bool | float | str]]


class ListedTaskParam(TypedDict):
    model: str
    input: ListedTaskParamInput
    callBackUrl: NotRequired[str]
    requestedModel: NotRequired[str]
    """The name by which a client of another API or dialect named the model."""
    endUser: NotRequired[str]
    """Only of tasks created through an API with such a field."""


class ListedTaskResultJsonVideo(TypedDict):
    """Measured from the stored video; absent until success."""

    width: int
    height: int
    seconds: float
    framesPerSecond: float
    hasAudio: bool
    bytes: int


class ListedTaskResultJson(TypedDict):
    resultUrls: list[str]
    """Freshly signed links; empty until success."""
    lastFrameUrl: NotRequired[str]
    """A freshly signed link to the last frame (JPEG), for models that store it."""
    video: NotRequired[ListedTaskResultJsonVideo]
    """Measured from the stored video; absent until success."""


class ListedTaskCreatedBy(TypedDict):
    """The creator; null for a task that an operator started manually."""

    kind: Literal["key", "person"]
    id: str
    name: str | None
    """The name of the key, or the e-mail of the person (`erased user` after erasure)."""


class ListedTask(TypedDict):
    taskId: str
    model: str
    state: Literal["waiting", "queuing", "generating", "success", "fail"]
    """`success` and `fail` are final and never change."""
    progress: int
    param: ListedTaskParam
    resultJson: ListedTaskResultJson
    failCode: (
        Literal[
            "content_rejected",
            "image_unreachable",
            "image_invalid",
            "media_unreachable",
            "media_invalid",
            "provider_rejected",
            "provider_unavailable",
            "timeout",
            "result_invalid",
            "cancelled",
            "terminated",
            "internal",
        ]
        | None
    )
    failMsg: str | None
    creditsCharged: int
    creditsRefunded: int
    """All credits of a failed task. Of a success, the difference of the price if its model refunds what a video lacks."""
    costTime: int | None
    """Milliseconds from the start of generation to the end."""
    createTime: int
    """Unix milliseconds, as every time here."""
    updateTime: int
    completeTime: int | None
    createdBy: ListedTaskCreatedBy | None
    """The creator; null for a task that an operator started manually."""
    posterUrl: str | None
    """A signed link to a still of the video; null without one."""
    contentDeleteTime: int | None
    """When prompt, images and video were deleted, on request or after their retention."""


class CancelledTask(TypedDict):
    taskId: str
    cancelled: bool
    """False if the task had already ended in another way."""
    state: Literal["success", "fail"]
    failCode: (
        Literal[
            "content_rejected",
            "image_unreachable",
            "image_invalid",
            "media_unreachable",
            "media_invalid",
            "provider_rejected",
            "provider_unavailable",
            "timeout",
            "result_invalid",
            "cancelled",
            "terminated",
            "internal",
        ]
        | None
    )
    creditsRefunded: int


class DeletedTask(TypedDict):
    taskId: str
    contentDeleteTime: int


class TaskPrice(TypedDict):
    model: str
    priceName: str
    """The price of the model that applies to this input."""
    creditsPerSecond: int
    creditsPerVideo: int
    credits: int
    """Seconds × `creditsPerSecond` + `creditsPerVideo`."""


class UploadedMedia(TypedDict):
    url: str
    kind: Literal["image", "video", "audio"]
    fields: list[Literal["imageUrls", "firstFrameUrl", "lastFrameUrl", "videoUrls", "audioUrls"]]
    """The fields of `input` that take the file."""
    previewUrl: str
    """A link to the file, valid for a day."""
    expireTime: int


class LedgerEntry(TypedDict):
    entryId: int
    kind: Literal["grant", "charge", "refund", "partial_refund", "adjustment"]
    amount: int
    """Negative for charges."""
    balanceAfter: int
    """Below zero after a payment for credits that are spent was returned."""
    taskId: str | None
    priceName: str | None
    """The price of the charge or refund."""
    reason: str | None
    createTime: int
    """Unix milliseconds."""


class ModelSampleRequest(TypedDict):
    """The smallest body of `createTask`, with sample values."""

    model: str
    input: dict[str, Any]


class ModelSample(TypedDict):
    """A video or still that the model made; null without a sample in the catalogue."""

    videoUrl: str | None
    posterUrl: str | None
    isPreview: bool
    """True: made by the built-in preview, which is not an AI model."""


class ModelPriceWhen(TypedDict):
    """The conditions, which must all hold; without any, every input meets them."""

    resolution: NotRequired[Literal["480p", "540p", "720p", "768p", "1080p", "1440p", "2160p"]]
    generateAudio: NotRequired[bool]
    options: NotRequired[dict[str, bool | float | str]]
    imageUrls: NotRequired[Literal["present", "absent"]]
    firstFrameUrl: NotRequired[Literal["present", "absent"]]
    lastFrameUrl: NotRequired[Literal["present", "absent"]]
    videoUrls: NotRequired[Literal["present", "absent"]]
    audioUrls: NotRequired[Literal["present", "absent"]]


class ModelPriceRate(TypedDict):
    creditsPerSecond: int
    creditsPerVideo: int
    fromTime: int


class ModelPrice(TypedDict):
    name: str
    when: ModelPriceWhen
    """The conditions, which must all hold; without any, every input meets them."""
    rates: list[ModelPriceRate]
    """The amounts, which add up: those in force, if the price has begun, and announced ones. A task keeps the price of its creation."""


class LimitsCreates(TypedDict):
    """Null: no limit."""

    quota: int
    windowSeconds: float


class LimitsReads(TypedDict):
    """Null: no limit."""

    quota: int
    windowSeconds: float


class Limits(TypedDict):
    creates: LimitsCreates | None
    """Null: no limit."""
    reads: LimitsReads | None
    """Null: no limit."""
    unfinishedTasks: int
    maxUnfinishedTasks: int


class TaskPage(TypedDict):
    tasks: list[ListedTask]
    nextCursor: str | None
    """Pass it as `cursor` to get the next page; null on the last page."""


class Credits(TypedDict):
    balance: int
    """Below zero after a payment for credits that are spent was returned."""
    entries: list[LedgerEntry]
    nextCursor: str | None
    """Pass it as `cursor` to get the next page; null on the last page."""


class FieldError(TypedDict):
    path: str
    message: str


ErrorCode: TypeAlias = Literal[
    "acceptance_reverted",
    "acceptance_unknown",
    "account_closed",
    "account_not_found",
    "account_suspended",
    "already_member",
    "archive_running",
    "attempt_not_found",
    "balance_out_of_range",
    "body_not_object",
    "body_too_large",
    "body_unreadable",
    "callback_secret_already_shown",
    "callback_test_running",
    "cap_subject_not_found",
    "code_batch_not_found",
    "code_invalid",
    "content_deleted",
    "content_refused",
    "cross_site_request",
    "database_busy",
    "database_unavailable",
    "dialect_required",
    "disk_full",
    "duplicate_json_key",
    "email_domain_not_allowed",
    "event_endpoint_not_found",
    "event_invalid",
    "event_not_found",
    "headers_too_large",
    "idempotency_key_reused",
    "insufficient_credits",
    "internal",
    "invalid_json",
    "invalid_request",
    "key_not_active",
    "key_not_found",
    "last_operator",
    "last_owner",
    "link_not_found",
    "malformed_form",
    "malformed_request",
    "media_deleted",
    "member_not_found",
    "misdirected_request",
    "model_not_allowed",
    "model_unavailable",
    "moderation_unavailable",
    "not_ready",
    "not_signed_in",
    "owner_required",
    "package_not_found",
    "package_unavailable",
    "passkey_not_found",
    "passkeys_unavailable",
    "password_sign_in_off",
    "payments_disabled",
    "payments_unavailable",
    "person_not_found",
    "price_in_force",
    "price_not_found",
    "rate_limited",
    "read_only_view",
    "reauthentication_required",
    "request_timeout",
    "scope_missing",
    "session_not_found",
    "share_link_not_found",
    "sign_in_failed",
    "sign_up_not_found",
    "sign_up_off",
    "spend_cap_reached",
    "task_not_finished",
    "task_not_found",
    "tests_busy",
    "too_many_bad_keys",
    "too_many_code_attempts",
    "too_many_invitations",
    "too_many_keys",
    "too_many_mails",
    "too_many_passkeys",
    "too_many_provider_tests",
    "too_many_refused_creates",
    "too_many_share_links",
    "too_many_sign_ins",
    "too_many_sign_ups",
    "too_many_tags",
    "too_many_top_ups",
    "too_many_unfinished_tasks",
    "too_many_uploads",
    "unauthorized",
    "unknown_endpoint",
    "unsupported_encoding",
    "unsupported_media_type",
    "uploads_busy",
    "url_too_long",
]


class Model(TypedDict):
    model: str
    title: str
    prices: list[ModelPrice]
    """In the order in which they are decided: the first price that has begun and whose conditions the input meets applies. The last one has no conditions."""
    inputSchema: dict[str, Any]
    """The JSON Schema of `input` in a request for this model: its fields, bounds and defaults."""
    sampleRequest: ModelSampleRequest
    """The smallest body of `createTask`, with sample values."""
    description: str | None
    """Plain text for customers: the strengths of the model."""
    sample: ModelSample | None
    """A video or still that the model made; null without a sample in the catalogue."""
    lastFrame: bool
    """True if the last frame of its videos is stored, too; `resultJson.lastFrameUrl` is its link."""


class Catalogue(TypedDict):
    models: list[Model]
    limits: Limits
