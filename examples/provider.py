"""A provider for Videogen (docs/providers/own.md), without dependencies.

KEY=secret python3 provider.py COMMAND runs the shell command for each job, in a folder that holds request.json and the images, such
as images1.jpg and firstFrame1.jpg. The command writes video.mp4 there. Videogen's `limit` sets how many commands run at the same time.
"""
import base64, http.server, json, os, pathlib, re, signal, subprocess, sys, threading

FOLDER = pathlib.Path(os.getenv("JOBS", "jobs"))
lock = threading.Lock()
supervisors = {}
jobs = {}


def supervise(command):
    """Runs a command, and kills all that it started when the server dies, so that no orphan keeps the GPU busy."""
    def watch():
        os.read(0, 1)  # ends with the server, which holds the only other end of the pipe
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    with open("stderr.txt", "wb") as log:
        return subprocess.call(command, shell=True, stdin=subprocess.DEVNULL, stderr=log)


def save(job_id, status, message=None):
    error = message and {"code": "internal", "message": message}
    jobs[job_id] = {"id": job_id, "status": status, "error": error}
    # A crash leaves the old file or the new one.
    (FOLDER / "next.json").write_text(json.dumps(jobs))
    os.replace(FOLDER / "next.json", FOLDER / "jobs.json")


def begin(job_id, request):
    folder = FOLDER / job_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "request.json").write_bytes(request)
    for role, urls in json.loads(request).get("media", {}).items():
        for number, url in enumerate([urls] if isinstance(urls, str) else urls, 1):
            if url.startswith("data:"):  # reference videos and audio are links, which the command may download
                (folder / f"{role}{number}.jpg").write_bytes(base64.b64decode(url.split(",")[1]))
    save(job_id, "running")  # before the command starts: a job that is not recorded could run twice
    command = [sys.executable, os.path.abspath(__file__), "--supervise", sys.argv[1]]
    supervisors[job_id] = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, start_new_session=True)
    threading.Thread(target=wait, args=(job_id, folder / "video.mp4")).start()


def wait(job_id, video):
    code = supervisors[job_id].wait()
    with lock:
        if jobs[job_id]["status"] != "running":
            return  # it was canceled
        if code == 0 and video.exists():
            save(job_id, "succeeded")
        else:
            log = video.parent / "stderr.txt"  # operators read its end on the page of the task
            output = log.read_bytes()[-2000:].decode(errors="replace").strip() if log.exists() else ""
            save(job_id, "failed", f"the command ended with {code}: {output}")


def cancel(job_id):
    save(job_id, "canceled")
    os.killpg(supervisors[job_id].pid, signal.SIGKILL)


class Handler(http.server.BaseHTTPRequestHandler):
    def outcome(self, body):
        """The status and the body of the answer."""
        if self.headers["Authorization"] != "Bearer " + os.environ["KEY"]:
            return 401, error("unauthorized")
        job_id, video = re.fullmatch("/jobs/([0-9a-f-]{36})(/video)?|.*", self.path).groups()
        if self.command == "PUT" and job_id and job_id not in jobs:
            try:
                if json.loads(body)["version"] != 2:
                    raise ValueError
            except (ValueError, TypeError, LookupError):
                return 400, error("input_invalid")
            begin(job_id, body)
        if job_id not in jobs or (video and jobs[job_id]["status"] != "succeeded"):
            return 404, error("not_found")
        if self.command == "DELETE" and jobs[job_id]["status"] == "running":
            cancel(job_id)
        return 200, (FOLDER / job_id / "video.mp4").read_bytes() if video else json.dumps(jobs[job_id]).encode()

    def answer(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        with lock:
            status, content = self.outcome(body)
        span = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        first = int(span[1]) if span else 0
        self.send_response(206 if first else status)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        self.wfile.write(content[first:])

    do_GET = do_PUT = do_DELETE = answer


def error(code):
    return json.dumps({"error": {"code": code}}).encode()


if sys.argv[1] == "--supervise":
    sys.exit(supervise(sys.argv[2]))
if (FOLDER / "jobs.json").exists():
    jobs.update(json.loads((FOLDER / "jobs.json").read_text()))
for job_id in [job_id for job_id, job in jobs.items() if job["status"] == "running"]:
    save(job_id, "failed", "the server was restarted")
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.getenv("PORT", "9000"))), Handler).serve_forever()
