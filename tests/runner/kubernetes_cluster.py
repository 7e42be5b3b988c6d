"""A stand-in for a Kubernetes cluster: enough of the API for kubectl's create, get, delete and logs.

Jobs and pods are kept in memory, the containers of pods are processes of this machine. Job manifests are
checked against the fields of batch/v1 that doetune uses: an unknown field or an invalid name is refused.
A volume of the pod's own (emptyDir) is a directory elsewhere, whose path is put in place of the mount's.
"""

import datetime
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.parse

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?")

# Fields and their types, of Kubernetes' API reference; a list has the type of its items.
ENVIRONMENT = {"name": str, "value": str, "valueFrom": {"fieldRef": {"fieldPath": str}}}
CONTAINER = {"name": NAME, "image": str, "command": [str], "args": [str], "env": [ENVIRONMENT],
             "envFrom": [{"secretRef": {"name": NAME}}],
             "resources": {"limits": {...: QUANTITY}, "requests": {...: QUANTITY}},
             "volumeMounts": [{"name": NAME, "mountPath": str, "readOnly": bool}]}
VOLUME = {"name": NAME, "persistentVolumeClaim": {"claimName": NAME}, "hostPath": {"path": str, "type": str},
          "emptyDir": {"medium": str, "sizeLimit": QUANTITY}}
POD = {"restartPolicy": str, "activeDeadlineSeconds": int, "terminationGracePeriodSeconds": int,
       "enableServiceLinks": bool, "automountServiceAccountToken": bool, "containers": [CONTAINER],
       "volumes": [VOLUME], "securityContext": {"runAsUser": int, "runAsGroup": int},
       "nodeSelector": {...: LABEL}, "tolerations": [{"key": str, "operator": str}],
       "imagePullSecrets": [{"name": NAME}], "serviceAccountName": NAME, "priorityClassName": NAME}
JOB = {"apiVersion": str, "kind": str,
       "metadata": {"name": NAME, "namespace": NAME, "labels": {...: LABEL}, "annotations": {...: str}},
       "spec": {"backoffLimit": int, "ttlSecondsAfterFinished": int,
                "template": {"metadata": {"labels": {...: LABEL}}, "spec": POD}}}


def problem(value, kind, path=""):
    """What is wrong with a manifest; None where nothing is."""
    if isinstance(kind, type):
        return None if type(value) is kind else f"{path}: expected {kind.__name__}, found {value!r}"
    if isinstance(kind, re.Pattern):
        return None if isinstance(value, str) and kind.fullmatch(value) else f"{path}: Invalid value: {value!r}"
    if isinstance(kind, list):
        items = enumerate(value) if isinstance(value, list) else [("", None)]
        return next(filter(None, (problem(item, kind[0], f"{path}[{i}]") for i, item in items)), None)
    if not isinstance(value, dict):
        return f"{path}: expected an object, found {value!r}"
    for key, item in value.items():
        if key not in kind and ... not in kind:
            return f"unknown field {path}.{key}"
        wrong = problem(item, kind.get(key, kind.get(...)), f"{path}.{key}")
        if wrong:
            return wrong
    return None


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def status(code, reason, message):
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
                  "message": message}


class Cluster:
    def __init__(self, directory, path):
        self.directory = directory
        self.path = path            # PATH of the containers
        self.jobs, self.pods, self.processes = {}, {}, {}
        self.created = []           # names of all Jobs
        self.images = {"doetune:1"}
        self.full = False           # whether no node takes a pod
        self.refuses = None         # what the server says to all requests: (code, reason, message)
        self.lock = threading.RLock()
        self.server = None
        self.port = 0
        self.start()

    def start(self):
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                with cluster.lock:
                    code, answer = cluster.answer(self.command, url.path.strip("/").split("/"), query, body)
                text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(code)
                self.send_header("Content-Type", "text/plain" if text is answer else "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = do_any

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a kubectl that was killed

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        """The API server is gone; pods go on."""
        self.server.shutdown()
        self.server.server_close()

    def end(self):
        self.stop()
        for process in list(self.processes.values()):
            process.kill()

    def kubeconfig(self):
        file = self.directory / "kubeconfig"
        file.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "here", "users": [{"name": "me", "user": {}}],
            "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}]}))
        return file

    def answer(self, method, path, query, body):
        if path == ["version"]:
            return 200, {"major": "1", "minor": "32", "gitVersion": "v1.32.0"}
        if self.refuses:
            return status(*self.refuses)
        if path == ["api"]:
            return 200, {"kind": "APIVersions", "versions": ["v1"]}
        if path == ["apis"]:
            version = {"groupVersion": "batch/v1", "version": "v1"}
            return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": "batch", "versions": [version], "preferredVersion": version}]}
        kind = path[-1] if path[-1] in ("jobs", "pods") else path[-2]
        if path in (["api", "v1"], ["apis", "batch", "v1"]):
            name, singular, group = (("pods", "Pod", "v1") if path[0] == "api" else ("jobs", "Job", "batch/v1"))
            return 200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": [
                {"name": name, "singularName": name[:-1], "namespaced": True, "kind": singular,
                 "verbs": ["create", "delete", "get", "list"]}]}
        items = self.jobs if "jobs" in path else self.pods
        if path[-1] == "log":
            return 200, (self.directory / f"{path[-2]}.log").read_bytes()
        if kind == path[-1] and method == "POST":
            return self.create(json.loads(body))
        if kind == path[-1]:
            wanted = dict(pair.split("=") for pair in query.get("labelSelector", "").split(",") if pair)
            found = [item for item in items.values()
                     if wanted.items() <= item["metadata"].get("labels", {}).items()]
            return 200, {"kind": "JobList" if items is self.jobs else "PodList", "metadata": {"resourceVersion": "1"},
                         "apiVersion": "batch/v1" if items is self.jobs else "v1", "items": found}
        if path[-1] not in items:
            return status(404, "NotFound", f'{kind} "{path[-1]}" not found')
        if method == "DELETE":
            self.delete(path[-1])
            return 200, {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        return 200, items[path[-1]]

    def create(self, job):
        wrong = problem(job, JOB, "Job")
        name = job["metadata"]["name"]
        pod = job["spec"]["template"]["spec"]
        mounts = {mount["name"] for mount in pod["containers"][0].get("volumeMounts", [])}
        if not wrong and mounts != {volume["name"] for volume in pod.get("volumes", [])}:
            wrong = "volumeMounts: not those of the volumes"
        if wrong:
            return status(422, "Invalid", f'Job.batch "{name}" is invalid: {wrong}')
        if name in self.jobs:
            return status(409, "AlreadyExists", f'jobs.batch "{name}" already exists')
        job["metadata"].update(namespace="default", creationTimestamp=now(), uid=name)
        job["status"] = {}
        self.jobs[name] = job
        self.created.append(name)
        threading.Thread(target=self.run_pod, args=(job,), daemon=True).start()
        return 201, job

    def delete(self, name):
        del self.jobs[name]
        self.delete_pod(name + "-00000")

    def delete_pod(self, name):
        pod = self.pods.get(name)
        if pod is None:
            return
        process = self.processes.get(name)
        if process is None or process.poll() is not None:
            del self.pods[name]
            return
        pod["metadata"]["deletionTimestamp"] = now()
        process.terminate()

    def evict(self, name):
        """As a node short of memory does it: no time to end."""
        with self.lock:
            pod = self.pods[name + "-00000"]
            pod["status"].update(phase="Failed", reason="Evicted",
                                 message="The node was low on resource: memory.")
            self.processes[name + "-00000"].kill()

    def kill_out_of_memory(self, name):
        with self.lock:
            self.pods[name + "-00000"]["killed"] = "OOMKilled"
            self.processes[name + "-00000"].kill()

    def running(self):
        """Names of the Jobs whose pods run."""
        with self.lock:
            return [name for name in self.jobs
                    if self.pods.get(name + "-00000", {}).get("status", {}).get("phase") == "Running"]

    def run_pod(self, job):
        name = job["metadata"]["name"] + "-00000"
        template = job["spec"]["template"]
        pod = {"kind": "Pod", "apiVersion": "v1", "spec": template["spec"], "status": {"phase": "Pending"},
               "metadata": {"name": name, "namespace": "default", "creationTimestamp": now(),
                            "labels": {**template["metadata"]["labels"], "job-name": job["metadata"]["name"]}}}
        with self.lock:
            if job["metadata"]["name"] not in self.jobs:
                return
            self.pods[name] = pod
        while self.full and name in self.pods:
            pod["status"]["conditions"] = [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]
            time.sleep(0.05)
        pod["status"]["conditions"] = []
        pod["spec"] = {**template["spec"], "nodeName": "node-1"}
        container = template["spec"]["containers"][0]
        if container["image"] not in self.images:
            for reason in ("ErrImagePull", "ImagePullBackOff"):
                pod["status"]["containerStatuses"] = [{"name": "run", "state": {"waiting": {
                    "reason": reason, "message": f'Back-off pulling image "{container["image"]}"'}}}]
                time.sleep(0.2)
            return
        self.run_container(pod, container, name)

    def run_container(self, pod, container, name):
        environment = {"PATH": self.path, "DOETUNE_NODE": "node-1"}
        words = [word.replace("$$", "$") for word in container["command"] + container["args"]]
        mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
        for volume in pod["spec"].get("volumes", []):
            if "emptyDir" in volume:
                own = self.directory / f"{name}-volume"
                own.mkdir()
                words = [word.replace(mounts[volume["name"]], str(own)) for word in words]
        with open(self.directory / f"{name}.log", "wb") as log, self.lock:
            if name not in self.pods:
                return
            try:
                process = subprocess.Popen(words, env=environment, cwd="/", stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=log)
            except OSError as error:
                return self.ended(pod, 128, "StartError", f"exec: {error}")
            self.processes[name] = process
            pod["status"] = {"phase": "Running", "containerStatuses": [{"name": "run", "state": {"running": {}}}]}
        process.wait()
        with self.lock:
            if "deletionTimestamp" in pod["metadata"]:
                self.pods.pop(name, None)
            elif pod["status"]["phase"] == "Running":
                code = process.returncode
                self.ended(pod, code, pod.pop("killed", "Completed" if code == 0 else "Error"), "")

    def ended(self, pod, code, reason, message):
        pod["status"] = {"phase": "Succeeded" if code == 0 else "Failed", "containerStatuses": [{
            "name": "run", "state": {"terminated": {"exitCode": code, "reason": reason, "message": message}}}]}
        job = self.jobs.get(pod["metadata"]["labels"]["job-name"])
        if job is not None:
            job["status"]["conditions"] = [{"type": "Complete" if code == 0 else "Failed", "status": "True",
                                            "reason": "" if code == 0 else "BackoffLimitExceeded"}]
