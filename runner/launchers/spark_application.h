// The Python program of the Spark application that runs attempts as tasks.
#pragma once

#include <string_view>

namespace doetune::runner {

/// Arguments: the queue and doetune-attempt. The queue is a folder on a file system that doetune
/// and the driver share:
///
///   alive         touched by doetune; the driver ends without it, or if it was not touched for
///                 two minutes
///   running       by the driver, once it has a Spark context
///   failed        by the driver: one sentence, why it has ended
///   NAME.asked    by doetune: the directory of an attempt; the driver removes it and makes a task
///   NAME.ended    by the driver, once the task has ended: the exit code of doetune-attempt, or
///                 "lost" with the task; then a line of words
///
/// The directory of the attempt determines its outcome, as with every launcher: a task that Spark
/// starts twice finds the claim of the first.
inline constexpr std::string_view kSparkApplication = R"python(
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkContext, TaskContext

QUEUE, PROGRAM = sys.argv[1:]
TASKS = 256        # in Spark's queue at once
ABANDONED_S = 120  # without a sign of doetune
LOOK_S = 0.02
OF_SPARK = ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "OMP_NUM_THREADS")


def put(name, text):
    path = os.path.join(QUEUE, name)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def sentence(error):
    """The line of Spark's message that tells the cause."""
    error = getattr(error, "java_exception", None) or error
    text = error.getMessage() if hasattr(error, "getMessage") else str(error)
    text = (text or type(error).__name__).partition("Driver stacktrace")[0]
    return text.rpartition("most recent failure: ")[2].strip().split("\n")[0]


def run_attempt(directory):
    """In the executor: doetune-attempt, which ends with its task. Its exit code, and its words."""
    environment = {name: text for name, text in os.environ.items() if name not in OF_SPARK}
    gpus = TaskContext.get().resources().get("gpu")
    if gpus:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(gpus.addresses)

    def end_with_the_task():
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG

    try:
        done = subprocess.run([PROGRAM, directory], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace",
                              preexec_fn=end_with_the_task)
    except OSError as error:
        return 127, f"{socket.gethostname()}: {error}"
    lines = done.stderr.strip().splitlines()
    return done.returncode, f"{socket.gethostname()}: {lines[-1] if lines else 'no message'}"


def execute(context, name, directory):
    try:
        (code, words), = context.parallelize([directory], 1).map(run_attempt).collect()
    except Exception as error:
        code, words = "lost", sentence(error)
    put(name + ".ended", f"{code}\n{words}\n")


def unreachable(master):
    """Why no master of a standalone cluster can be reached: Spark itself would try for a minute."""
    why = ""
    for address in master[len("spark://"):].split(",") if master.startswith("spark://") else []:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), 5).close()
            return ""
        except (OSError, ValueError) as error:
            why = f"the master {master} cannot be reached ({error})"
    return why


class Wanted:
    """Whether doetune still wants this application."""

    def __init__(self):
        self.beat, self.changed = None, time.monotonic()

    def __call__(self):
        try:
            beat = os.stat(os.path.join(QUEUE, "alive")).st_mtime_ns
        except OSError:
            return False
        if beat != self.beat:
            self.beat, self.changed = beat, time.monotonic()
        return time.monotonic() < self.changed + ABANDONED_S


def serve(context):
    wanted, tasks = Wanted(), ThreadPoolExecutor(TASKS)
    checked = 0
    while True:
        if time.monotonic() > checked + 1:
            checked = time.monotonic()
            if not wanted():
                return
            if context._jsc.sc().isStopped():
                raise RuntimeError("Spark has ended the application; its executors' logs tell more")
        for entry in os.listdir(QUEUE):
            name, _, kind = entry.rpartition(".")
            if kind == "asked":
                path = os.path.join(QUEUE, entry)
                with open(path) as file:
                    directory = file.read()
                os.remove(path)
                tasks.submit(execute, context, name, directory)
        time.sleep(LOOK_S)


def main():
    try:
        SparkContext._ensure_initialized()
        conf = SparkContext._jvm.org.apache.spark.SparkConf()
        problem = unreachable(conf.get("spark.master", ""))
        if problem:
            raise RuntimeError(problem)
        context = SparkContext()
        context.setLogLevel("ERROR")
        put("running", context.applicationId)
        serve(context)
        context.stop()
    except Exception as error:
        if os.path.isdir(QUEUE):
            put("failed", sentence(error))
    finally:
        os._exit(0)  # without waiting for tasks that nobody wants


main()
)python";

}  // namespace doetune::runner
