"""A provider for Videogen (docs/provider-protocol.md). `KEY=secret python3 provider.py COMMAND` runs the shell command for each job,
in a folder that holds request.json; there it writes video.mp4. Videogen's `limit` says how many of them run at a time."""
import http.server, json, os, pathlib, re, subprocess, sys, threading
folder, lock, processes = pathlib.Path(os.getenv("JOBS", "jobs")), threading.Lock(), {}
jobs = json.loads((folder / "jobs.json").read_text()) if (folder / "jobs.json").exists() else {}
def save(id, status, message=None):  # through a second file, so that a crash leaves the old jobs.json or the new one
    jobs[id] = {"id": id, "status": status, "error": message and {"code": "internal", "message": message}}
    (folder / "next.json").write_text(json.dumps(jobs))
    os.replace(folder / "next.json", folder / "jobs.json")
def begin(id, request):
    (folder / id).mkdir(parents=True, exist_ok=True)
    (folder / id / "request.json").write_bytes(request)
    save(id, "running")  # comes first: a job that is not written down could be run twice
    processes[id] = subprocess.Popen(sys.argv[1], shell=True, cwd=folder / id, start_new_session=True)
    threading.Thread(target=lambda: end(id, processes[id].wait())).start()
def end(id, code):
    with lock:
        if jobs[id]["status"] != "running": return  # it was canceled
        if code == 0 and (folder / id / "video.mp4").exists(): save(id, "succeeded")
        else: save(id, "failed", f"the command ended with {code}")
class Handler(http.server.BaseHTTPRequestHandler):
    def outcome(self, request, id, video):
        status = jobs[id]["status"] if id in jobs else None
        if self.headers["Authorization"] != "Bearer " + os.environ["KEY"]: return 401, b'{"error": {"code": "unauthorized"}}'
        if self.command == "PUT" and id and not status:
            try: json.loads(request), begin(id, request)
            except ValueError: return 400, b'{"error": {"code": "input_invalid", "message": "no JSON"}}'
        if self.command == "DELETE" and status == "running": save(id, "canceled"), os.killpg(processes[id].pid, 9)
        if id not in jobs or video and status != "succeeded": return 404, b'{"error": {"code": "not_found"}}'
        return 200, (folder / id / "video.mp4").read_bytes() if video else json.dumps(jobs[id]).encode()
    def answer(self):
        request = self.rfile.read(int(self.headers["Content-Length"] or 0))
        with lock: status, body = self.outcome(request, *re.fullmatch("/jobs/([0-9a-f-]{36})(/video)?|.*", self.path).groups())
        first = int((re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "") or "00")[1])
        self.send_response(206 if first else status)
        if first: self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", len(body[first:])), self.end_headers(), self.wfile.write(body[first:])
    do_GET = do_PUT = do_DELETE = answer
for id in [id for id in jobs if jobs[id]["status"] == "running"]: save(id, "failed", "the server was restarted")
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.getenv("PORT", 9000))), Handler).serve_forever()
