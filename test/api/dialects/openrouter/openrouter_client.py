"""OpenRouter's own client for Python, against a service that speaks its API."""

import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx
from openrouter import OpenRouter, errors

mode, server_url, api_key, creates = sys.argv[1:]
client = OpenRouter(api_key=api_key, server_url=server_url)
videos = client.video_generation
model = "bytedance/seedance-2-fast"


def generate_one():
    created = videos.generate(model=model, prompt="A lighthouse", duration=4, aspect_ratio="9:16", generate_audio=False)
    polled = created
    while polled.status != "completed":
        polled = videos.get_generation(job_id=created.id)
    by_link = httpx.get(polled.urls[0]).content
    key = {"authorization": f"Bearer {api_key}"}
    assert httpx.get(polled.unsigned_urls[0], headers=key).content == by_link
    assert videos.get_video_content(job_id=created.id).read() == by_link
    assert model in [one.id for one in videos.list_videos_models().data]
    try:
        videos.get_generation(job_id="none")
    except errors.NotFoundResponseError as error:
        assert error.data.error.metadata["error_code"] == "task_not_found"
    print(len(by_link))


def create(index):
    headers = {"Idempotency-Key": str(uuid.uuid4())} if mode == "keyed" else {}
    return videos.generate(model=model, prompt=f"A lighthouse, view {index}", duration=4, http_headers=headers).id


if mode == "generate":
    generate_one()
else:
    with ThreadPoolExecutor(20) as pool:
        print(len(set(pool.map(create, range(int(creates))))))
