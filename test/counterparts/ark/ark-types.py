"""Checks create requests against the types of BytePlus' SDK: the parameters of its `create`, and its union of content items."""

import inspect
import json
import sys
from typing import List, get_type_hints

from byteplussdkarkruntime.resources.content_generation.tasks import Tasks
from byteplussdkarkruntime.types.content_generation.create_task_content_param import CreateTaskContentParam
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import get_args, is_typeddict


def strict(kind: type) -> None:
    """Typed dictionaries accept unknown fields by default."""
    if not is_typeddict(kind):
        return
    with_config(ConfigDict(extra="forbid", strict=True))(kind)
    for hint in get_type_hints(kind).values():
        for inner in (hint, *get_args(hint)):
            strict(inner)


for kind in get_args(CreateTaskContentParam):
    strict(kind)
items = TypeAdapter(List[CreateTaskContentParam])
# The SDK wraps the method in a decorator that hides its signature.
cells = [cell.cell_contents for cell in Tasks.create.__closure__ or ()]
create = next(content for content in cells if inspect.isfunction(content))
parameters = get_type_hints(create)
known = inspect.signature(create).parameters

for request in json.load(sys.stdin):
    for name, value in request.items():
        assert name in known, f"{name} is not a parameter of create"
        if name == "content":
            items.validate_python(value)
        else:
            TypeAdapter(parameters[name], config=ConfigDict(strict=True)).validate_python(value)
print("ok")
