"""Uses an SDK of Ark as its documents show: ark-client.py SDK BASE_URL API_KEY exercise|keyed|unkeyed [COUNT], prints JSON."""

import concurrent.futures
import importlib
import json
import sys
import time
import urllib.request

sdk, base_url, api_key, mode = sys.argv[1:5]
count = int(sys.argv[5]) if len(sys.argv) > 5 else 0
module = importlib.import_module(sdk)
tasks = module.Ark(base_url=f"{base_url}/api/v3", api_key=api_key).content_generation.tasks


def create(text, **options):
    content = [{"type": "text", "text": text}]
    return tasks.create(model="videogen-2.0-fast", content=content, **options).id


def exercise():
    task_id = create("[[instant]] a lighthouse --dur 4 --wm false", ratio="9:16", safety_identifier="user-1")
    while True:
        task = tasks.get(task_id=task_id)
        if task.status not in ("queued", "running"):
            break
        time.sleep(0.1)
    with urllib.request.urlopen(task.content.video_url) as video:
        first = video.read(12)
    hanging = create("[[hang]] a lighthouse")
    tasks.delete(task_id=hanging)
    listed = tasks.list(page_num=1, page_size=10, task_ids=[task_id, hanging], model="videogen-2.0-fast")
    succeeded = tasks.list(status="succeeded")
    try:
        create("a lighthouse", camera_fixed=True)
        refusal = None
    except Exception as error:
        refusal = {"type": type(error).__name__, "code": error.code, "param": error.param}
    return {
        "status": task.status,
        "ratio": task.ratio,
        "duration": task.duration,
        "tokens": task.usage.completion_tokens,
        "user": task.safety_identifier,
        "isVideo": first[4:8] == b"ftyp",
        "cancelled": tasks.get(task_id=hanging).status,
        "listed": [listed.total, sorted(item.status for item in listed.items)],
        "succeeded": [succeeded.total, succeeded.items[0].id == task_id],
        "refusal": refusal,
    }


def creates():
    def one(number):
        headers = {"Idempotency-Key": f"video-{number}"} if mode == "keyed" else {}
        return create(f"{mode} video {number}", extra_headers=headers)

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        return list(pool.map(one, range(count)))


print(json.dumps(exercise() if mode == "exercise" else creates()))
