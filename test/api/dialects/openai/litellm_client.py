"""LiteLLM as a library, with both of its providers for servers of this API, or with `creates COUNT` its router. Prints JSON."""

import asyncio
import hashlib
import json
import os
import sys
import time

import litellm

server = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}


def made_by(provider: str) -> dict[str, object]:
    video = litellm.video_generation(
        model=f"{provider}/videogen-2.0-fast", prompt="[[instant]] a lighthouse", seconds="4", size="1280x720", **server
    )
    while True:
        current = litellm.video_status(video_id=video.id, **server)
        if current.status not in ("queued", "in_progress"):
            break
        time.sleep(0.2)
    content = litellm.video_content(video_id=video.id, **server)
    listed = litellm.video_list(custom_llm_provider=provider, limit=1, **server)
    data = listed["data"] if isinstance(listed, dict) else listed
    return {
        "status": current.status,
        "size": current.size,
        "sha256": hashlib.sha256(content).hexdigest(),
        "listed": len(data),
    }


def refused() -> list[object]:
    try:
        litellm.video_generation(model="openai/videogen-2.0-fast", prompt="x", size="1x1", num_retries=0, **server)
    except litellm.exceptions.APIError as error:
        return [type(error).__name__, error.status_code]
    except Exception as error:  # the classes of LiteLLM have no other common base
        return [type(error).__name__, getattr(error, "status_code", None)]
    return []


async def creates(count: int) -> list[str]:
    """The router, which is the core of LiteLLM's proxy, repeats creates. The functions of the library do not."""
    params = {"model": "openai/videogen-2.0-fast", **server}
    models = [{"model_name": "videogen", "litellm_params": params}]
    # Its circuit breaker would end the test, which loses a response of every create.
    router = litellm.Router(model_list=models, num_retries=10, disable_cooldowns=True)
    videos = [router.avideo_generation(model="videogen", prompt=f"[[instant]] lighthouse {number}") for number in range(count)]
    return [video.id for video in await asyncio.gather(*videos)]


if sys.argv[1:2] == ["creates"]:
    print(json.dumps(asyncio.run(creates(int(sys.argv[2])))))
    sys.exit()
print(json.dumps({"made": {name: made_by(name) for name in ("openai", "hosted_vllm")}, "refused": refused()}))
