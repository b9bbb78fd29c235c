"""OpenAI's own client for Python, which reads base URL and key from the environment. Prints what it saw as JSON."""

import hashlib
import json
import os
import sys

import openai

model = "videogen-2.0-fast"
client = openai.OpenAI()


def lifecycle() -> dict[str, object]:
    with open(os.environ["TEST_IMAGE"], "rb") as image:
        video = client.videos.create_and_poll(
            model=model,
            prompt="[[instant]] a lighthouse",
            seconds="4",
            size="1280x720",
            input_reference=image,
            extra_body={"generateAudio": False},
        )
    content = client.videos.download_content(video.id).read()
    thumbnail = client.videos.download_content(video.id, variant="thumbnail").read()
    others = [client.videos.create(model=model, prompt=f"[[slow 60s]] {name}").id for name in "abc"]
    listed = [one.id for one in client.videos.list(limit=2, order="asc")]
    deleted = [client.videos.delete(one).deleted for one in [video.id, *others]]
    return {
        "id": video.id,
        "status": video.status,
        "size": video.size,
        "sha256": hashlib.sha256(content).hexdigest(),
        "thumbnail": thumbnail[:3].hex(),
        "listed": listed == [video.id, *others],
        "deleted": deleted,
        "cancelled": [client.videos.retrieve(one).status for one in others],
        "deleted_refused": refusal(lambda: client.videos.retrieve(video.id)),
        "size_refused": refusal(lambda: client.videos.create(model=model, prompt="x", size="1792x1024")),
        "key_refused": refusal(lambda: client.with_options(api_key="sk-none").videos.retrieve(video.id)),
        "models": [one.id for one in client.models.list()],
    }


def refusal(call) -> list[object]:
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]
    return []


def creates() -> list[str]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(50) as pool:
        return list(pool.map(lambda n: client.videos.create(model=model, prompt=f"[[instant]] lighthouse {n}").id, range(int(sys.argv[2]))))


def through_proxy() -> dict[str, object]:
    video = client.videos.create_and_poll(model="videogen", prompt="[[instant]] a lighthouse", seconds="4")
    content = client.videos.download_content(video.id).read()
    return {"status": video.status, "sha256": hashlib.sha256(content).hexdigest()}


print(json.dumps({"lifecycle": lifecycle, "creates": creates, "through_proxy": through_proxy}[sys.argv[1]]()))
