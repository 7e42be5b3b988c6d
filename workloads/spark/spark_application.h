// The Python program of the Spark application that analyses the cameras' video.
#pragma once

#include <string_view>

namespace doetune::workloads {

/// Arguments: `listen HOST PORT`, to serve one stream after another, for processes of the same user
/// on this machine, or `connect HOST PORT`, for one. Both sides exchange lines of JSON. The other
/// side asks
///
///   {"folder", "library", "configuration", "executors", "interval", "realtime", "queue_limit"}
///
/// and the application answers, until the other side closes the connection,
///
///   {"empty_s"}: the networks are loaded and the stream begins now; the mean time that a
///                micro-batch without images takes
///   {"micro_batch", "ready_s", "start_s", "processing_s", "phases_ms", "dropped", "images", ...}:
///                one that is done, from Spark's progress event, in seconds from the beginning of
///                the stream
///   {"error", "infeasible"}: why the stream has ended
///
/// `folder` is on a file system that driver and executors share. An application that listens
/// removes it after the stream. When a micro-batch is ready, one of the folders in `coming` is
/// replaced atomically by one with the coded frames of each executor's share (coded_share.h). These
/// folders stay: Spark may list them at any time, and a query ends where one that it found in
/// `coming` is gone when it opens it. Structured Streaming's file source finds them; each task
/// analyses one share by `library`, in its Python worker, which keeps the network, and Spark's file
/// sink writes the boxes to `detections`. At most two micro-batches are with Spark: one that is
/// processed, and one that waits.
inline constexpr std::string_view kStreamApplication = R"python(
import calendar
import ctypes
import json
import os
import queue
import select
import shutil
import signal
import socket
import sys
import time

from pyspark.sql import SparkSession, functions
from pyspark.sql.streaming import StreamingQueryListener

SLOTS = 4     # folders of micro-batches, more than are with Spark at a time
PREPARED = 3  # micro-batches that load the networks
EMPTY = 4     # micro-batches without images; the first one is not counted
END = 60      # seconds that the tasks of a query which was stopped may take
LOOKS = 5     # at the table of connections, which is read in parts while others come and go
BOX = "struct<channel:long,frame:long,class_index:int,confidence:float,x:float,y:float,width:float,height:float>"
TIMES = ("decode_s", "resize_s", "infer_s", "boxes_s", "elapsed_s")
RESULT = (f"micro_batch long, share long, images long, {' double, '.join(TIMES)} double, "
          f"detections array<{BOX}>")
INFEASIBLE = "these settings cannot run: "


def analysis(library, configuration):
    """What a task does with its share of a micro-batch."""
    def analyse(batches):
        import ctypes
        import json
        import os
        import pyarrow
        from pyspark import TaskContext

        gpus = TaskContext.get().resources().get("gpu")
        if gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpus.addresses)
        function = ctypes.CDLL(library).doetune_spark_analyse
        function.restype = ctypes.c_char_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
        whole, real = pyarrow.int64(), pyarrow.float32()
        box = pyarrow.struct([("channel", whole), ("frame", whole), ("class_index", pyarrow.int32())] +
                             [(name, real) for name in ("confidence", "x", "y", "width", "height")])
        schema = pyarrow.schema([(name, whole) for name in ("micro_batch", "share", "images")] +
                                [(name, pyarrow.float64()) for name in TIMES] +
                                [("detections", pyarrow.list_(box))])
        for batch in batches:
            for content in batch.column(0):
                share = content.as_buffer()
                result = json.loads(function(configuration, share.address, share.size))
                if "error" in result:
                    raise RuntimeError((INFEASIBLE if result["infeasible"] else "") + result["error"])
                yield pyarrow.RecordBatch.from_pylist([result], schema)
    return analyse


def sentence(error):
    """The line of Spark's message that tells the cause."""
    text = str(error).partition("Driver stacktrace")[0]
    raised = [line for line in text.splitlines() if line.startswith("RuntimeError: ")]
    if raised:
        return raised[-1][len("RuntimeError: "):]
    return text.rpartition("most recent failure: ")[2].strip().split("\n")[0]


class Cameras:
    """Makes micro-batches of the cameras' frames."""

    def __init__(self, asked):
        self.folder, self.executors = asked["folder"], asked["executors"]
        self.configuration = asked["configuration"].encode()
        library = ctypes.CDLL(asked["library"])
        self.share, self.data = library.doetune_spark_share, library.doetune_spark_share_data
        self.share.restype, self.data.restype = ctypes.c_char_p, ctypes.c_void_p
        self.share.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
        self.sent, self.made, self.begin = 0, None, time.time()
        for slot in range(SLOTS):
            os.makedirs(self.slot(slot))

    def make(self, micro_batch):
        """Writes a micro-batch, to be sent later; -1 for one without images. Spark takes each name of a file once."""
        folder = os.path.join(self.folder, "made")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for share in range(self.executors):
            answer = json.loads(self.share(self.configuration, micro_batch, share))
            if "error" in answer:
                raise RuntimeError((INFEASIBLE if answer["infeasible"] else "") + answer["error"])
            with open(os.path.join(folder, f"{self.sent}-{share}"), "wb") as file:
                file.write(ctypes.string_at(self.data(), answer["bytes"]))
        self.made = micro_batch

    def send(self, micro_batch):
        if self.made != micro_batch:
            self.make(micro_batch)
        modified = self.begin + self.sent / 100  # the file source takes the oldest files first
        folder = os.path.join(self.folder, "made")
        for share in range(self.executors):
            os.utime(os.path.join(folder, f"{self.sent}-{share}"), (modified, modified))
        os.rename(folder, self.slot(self.sent))
        self.sent, self.made = self.sent + 1, None

    def remove(self, number):
        for share in range(self.executors):
            os.unlink(os.path.join(self.slot(number), f"{number}-{share}"))

    def slot(self, number):
        return os.path.join(self.folder, "coming", str(number % SLOTS))


class Progress(StreamingQueryListener):
    """The events of micro-batches that are done."""

    def __init__(self):
        self.events = queue.Queue()

    def onQueryStarted(self, event):
        pass

    def onQueryIdle(self, event):
        pass

    def onQueryTerminated(self, event):
        pass

    def onQueryProgress(self, event):
        work = event.progress.observedMetrics.get("work")
        if work is not None and work["shares"]:
            self.events.put((event.progress, work))


class Stream:
    def __init__(self, spark, asked, connection):
        self.asked, self.connection = asked, connection
        self.cameras, self.progress = Cameras(asked), Progress()
        self.spark, self.done, self.ended = spark, 0, 0
        spark.streams.addListener(self.progress)
        self.query = self.start()

    def start(self):
        folder, columns = self.asked["folder"], functions.col
        shares = (self.spark.readStream.format("binaryFile")
                  .schema("path string, modificationTime timestamp, length long, content binary")
                  .option("recursiveFileLookup", "true")
                  .option("maxFilesPerTrigger", self.asked["executors"])
                  .load(os.path.join(folder, "coming")).select("content"))
        analyse = analysis(self.asked["library"], self.asked["configuration"].encode())
        work = [functions.sum(columns(name)).alias(name) for name in ("images", *TIMES)]
        results = shares.mapInArrow(analyse, RESULT).observe(
            "work", functions.count("share").alias("shares"), *work,
            functions.sum(functions.size("detections")).alias("detections"),
            functions.min("micro_batch").alias("oldest"), functions.max("micro_batch").alias("newest"),
            functions.max("elapsed_s").alias("longest_share_s"))
        return (results.writeStream.format("json").option("path", os.path.join(folder, "detections"))
                .option("checkpointLocation", os.path.join(folder, "checkpoint")).start())

    def wanted(self):
        """Whether the other side still listens."""
        return not select.select([self.connection], [], [], 0)[0]

    def next_done(self, until=None):
        """The next micro-batch that is done, by that time; None if there is none."""
        while self.wanted():
            if not self.query.isActive:
                raise self.query.exception() or RuntimeError("the query has ended")
            left = 0.2 if until is None else min(0.2, until - time.time())
            try:
                progress, work = self.progress.events.get(timeout=max(0, left))
            except queue.Empty:
                if until is not None and time.time() >= until:
                    return None
                continue
            if work["shares"] != self.asked["executors"] or work["oldest"] != work["newest"]:
                raise RuntimeError("Spark has mixed the files of several micro-batches")
            self.cameras.remove(self.done)
            self.done += 1
            return progress, work
        raise ConnectionResetError

    def prepare(self):
        """Loads the networks. The mean time of a micro-batch without images."""
        for micro_batch in range(PREPARED):
            self.cameras.send(micro_batch)
            self.next_done()
        times = []
        for _ in range(EMPTY):
            self.cameras.send(-1)
            progress, _ = self.next_done()
            times.append(progress.durationMs["triggerExecution"] / 1e3)
        return sum(times[1:]) / (EMPTY - 1)

    def execute(self):
        say(self.connection, {"empty_s": self.prepare()})
        begin, sent, coming = time.time(), [], 0
        interval, limit = self.asked["interval"], self.asked["queue_limit"]
        while True:
            now, dropped = time.time() - begin, 0
            room = len(sent) < 2
            if room:
                ready = now
                if self.asked["realtime"]:
                    if limit is not None:
                        dropped = max(0, int(now / interval) - coming - limit)
                        coming += dropped
                    ready = (coming + 1) * interval
                if ready <= now:
                    self.cameras.send(coming)
                    sent.append((coming, ready, dropped))
                    coming += 1
                    continue
                if self.cameras.made is None:
                    self.cameras.make(coming)
            done = self.next_done(begin + ready if room else None)
            if done:
                self.tell(begin, *sent.pop(0), *done)

    def tell(self, begin, number, ready, dropped, progress, work):
        second = calendar.timegm(time.strptime(progress.timestamp[:19], "%Y-%m-%dT%H:%M:%S"))
        start = second + float("0" + progress.timestamp[19:-1]) - begin
        spent = progress.durationMs["triggerExecution"] / 1e3
        if not self.asked["realtime"]:
            ready = max(ready, self.ended)
        self.ended = start + spent
        say(self.connection, {"micro_batch": number, "ready_s": min(ready, start), "start_s": start,
                              "processing_s": spent, "dropped": dropped,
                              "phases_ms": dict(progress.durationMs), **work.asDict()})

    def end(self):
        try:
            self.query.stop()
            self.spark.streams.removeListener(self.progress)
        except Exception as error:  # of a query that has failed
            print(sentence(error), file=sys.stderr)


def remove_folder(spark, folder):
    """Waits for tasks of a query that was stopped: what they still write would make the folder again."""
    try:
        tracker, until = spark.sparkContext._jsc.sc().statusTracker(), time.time() + END
        while any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()) and time.time() < until:
            time.sleep(0.05)
    except Exception as error:
        print(sentence(error), file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)


def say(connection, message):
    connection.sendall(json.dumps(message).encode() + b"\n")


def is_own(connection):
    """Whether the other side is a process of the same user on this machine: what it asks is executed."""
    def written(address):
        return f"{int.from_bytes(socket.inet_aton(address[0]), sys.byteorder):08X}:{address[1]:04X}"

    try:
        ends = [written(connection.getpeername()), written(connection.getsockname())]
    except OSError:
        return False  # it has gone
    for _ in range(LOOKS):
        with open("/proc/net/tcp") as table:
            users = {int(row.split()[7]) for row in table if row.split()[1:3] == ends}
        if users:
            return users == {os.getuid()}
    return False


def serve(spark, connection, remove=False):
    """One stream, until the other side closes the connection, and if it is asked for the end of its folder."""
    asked = stream = None
    try:
        connection.settimeout(60)
        line = connection.makefile().readline()
        if not line:
            return  # somebody looked whether this listens
        connection.settimeout(None)
        asked = json.loads(line)
        stream = Stream(spark, asked, connection)
        stream.execute()
    except (ConnectionResetError, BrokenPipeError, TimeoutError):
        pass  # nobody listens any more
    except Exception as error:
        why = sentence(error)
        infeasible = INFEASIBLE in why
        try:
            say(connection, {"error": why.partition(INFEASIBLE)[2] if infeasible else why,
                             "infeasible": infeasible})
        except OSError:
            pass
    finally:
        if stream:
            stream.end()
        if remove and asked:
            remove_folder(spark, asked["folder"])
        connection.close()


def main():
    mode, host, port = sys.argv[1:]
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nothing works without Spark's JVM
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if mode == "connect":
        serve(spark, socket.create_connection((host, int(port))))
        spark.stop()
    else:
        with socket.create_server((host, int(port))) as server:
            while True:
                connection = server.accept()[0]
                if is_own(connection):
                    serve(spark, connection, remove=True)  # the other side may be killed, or not wait
                connection.close()


code = 1
try:
    main()
    code = 0
except Exception as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
finally:
    os._exit(code)  # without waiting for threads of a query that nobody wants
)python";

}  // namespace doetune::workloads
