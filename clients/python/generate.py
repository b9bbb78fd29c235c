"""Writes the generated files of the package: `types.py` from openapi.json, `_sync/` from `_async/`.

Run it after a change of either, with the tools of the group `dev`. Without arguments it writes into this project.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import unasync  # type: ignore[import-untyped]

HERE = Path(__file__).parent

# The schemas that the client returns or takes. Those of operators and of the console are left out.
NAMED = ["TaskRequest", "CreatedTask", "TaskRecord", "ListedTask", "CancelledTask", "DeletedTask"]
NAMED += ["TaskPrice", "UploadedMedia", "LedgerEntry", "Model", "ModelPrice", "Limits"]
# `data` of an operation whose schema has no name of its own.
ANSWERS = {"TaskPage": "listTasks", "Credits": "getCredits", "Catalogue": "listModels"}

# The blocking twin imports its `sleep` and `to_thread` from `_sync/io.py`.
REPLACEMENTS = {
    "asyncio": ".io",
    "AsyncVideogen": "Videogen",
    "AsyncClient": "Client",
    "aclose": "close",
    "aclosing": "closing",
    "aiter_bytes": "iter_bytes",
}

# Annotations are not evaluated, so the type checkers of Python 3.10 need the name, but not Python itself.
IMPORT = "from typing_extensions import NotRequired\n"
LAZY_IMPORT = f"""import sys
from typing import TYPE_CHECKING

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    {IMPORT}"""

SYNC_HEADER = "# Written by generate.py from _async/client.py; do not edit.\n\n"


def types_source(description: dict[str, Any]) -> str:
    components = description["components"]
    operations = {one["operationId"]: one for path in description["paths"].values() for one in path.values()}
    schemas = {name: components["schemas"][name] for name in NAMED}
    for name, operation in ANSWERS.items():
        content = operations[operation]["responses"]["200"]["content"]["application/json"]
        schemas[name] = content["schema"]["properties"]["data"]
    invalid = components["responses"][operations["priceTask"]["responses"]["422"]["$ref"].split("/")[-1]]
    data = invalid["content"]["application/json"]["schema"]["properties"]["data"]
    schemas["FieldError"] = data["properties"]["errors"]["items"]
    schemas["ErrorCode"] = {"type": "string", "enum": error_codes(components["responses"])}
    reduced = {**description, "paths": {}, "components": {"schemas": schemas}}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "types.py")
        source.write_text(json.dumps(reduced), encoding="utf-8")
        files = ["--input", str(source), "--output", str(target)]
        subprocess.run([sys.executable, "-m", "datamodel_code_generator", *files], check=True, cwd=HERE)
        return target.read_text(encoding="utf-8").replace(IMPORT, LAZY_IMPORT)


def error_codes(responses: dict[str, Any]) -> list[str]:
    codes: set[str] = set()
    for response in responses.values():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        codes.update(schema.get("properties", {}).get("error", {}).get("enum", []))
    return sorted(codes)


def main(openapi: Path, package: Path) -> None:
    description = json.loads(openapi.read_text(encoding="utf-8"))
    (package / "types.py").write_text(types_source(description), encoding="utf-8")
    rule = unasync.Rule("/_async/", "/_sync/", REPLACEMENTS)
    unasync.unasync_files([str(package / "_async/client.py")], [rule])
    sync = package / "_sync/client.py"
    source = sync.read_text(encoding="utf-8")
    sync.write_text(SYNC_HEADER + source[source.index("import") :], encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "check", "--quiet", "--fix", "--select", "F811,I", str(sync)], check=True, cwd=HERE)
    subprocess.run([*ruff, "format", "--quiet", str(sync), str(package / "types.py")], check=True, cwd=HERE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("openapi", nargs="?", type=Path, default=HERE / "../../openapi.json")
    parser.add_argument("package", nargs="?", type=Path, default=HERE / "src/videogen_gateway")
    given = parser.parse_args()
    main(given.openapi, given.package.resolve())
