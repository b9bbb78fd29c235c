"""The Python client of a Videogen service: `Videogen`, and `AsyncVideogen` for asyncio."""

from ._async.client import AsyncVideogen as AsyncVideogen
from ._callbacks import verify_callback as verify_callback
from ._errors import APIConnectionError as APIConnectionError
from ._errors import APIStatusError as APIStatusError
from ._errors import AuthenticationError as AuthenticationError
from ._errors import CallbackVerificationError as CallbackVerificationError
from ._errors import ConflictError as ConflictError
from ._errors import InsufficientCreditsError as InsufficientCreditsError
from ._errors import InvalidRequestError as InvalidRequestError
from ._errors import NotFoundError as NotFoundError
from ._errors import PermissionDeniedError as PermissionDeniedError
from ._errors import RateLimitError as RateLimitError
from ._errors import ServerError as ServerError
from ._errors import TaskFailedError as TaskFailedError
from ._errors import TaskUnfinishedError as TaskUnfinishedError
from ._errors import VideogenError as VideogenError
from ._sync.client import Videogen as Videogen
from .types import FieldError as FieldError
