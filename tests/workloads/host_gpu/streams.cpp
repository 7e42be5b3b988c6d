// Streams, events and graphs. Work is run when something waits for it.
#include <deque>
#include <vector>

#include "host_gpu.h"
#include "machine.h"

using Work = std::function<void()>;

/// A moment in a stream.
struct Moment {
  CUstream_st* stream = nullptr;
  bool past = false;
  double seconds = 0;
};

struct CUstream_st {
  std::deque<Work> work = {};
  std::set<int> multiprocessors = {};
  const void* context = nullptr;
};
struct CUevent_st {
  std::shared_ptr<Moment> moment = {};
};
struct CUgraph_st {
  std::vector<Work> work = {};
};
struct CUgraphExec_st {
  std::vector<Work> work = {};
};

namespace doetune::host_gpu {
namespace {

constexpr double kOperation = 1e-6;  // seconds

struct Capture {
  cudaStream_t stream = nullptr;
  std::vector<Work> work = {};
  bool spoilt = false;
};

struct State {
  std::set<cudaStream_t> streams;
  CUstream_st legacy;  // the default stream; the others do not wait for it
  std::set<Capture*> captures;
  std::function<void()> capture_begins;
  double now = 0;
  bool works = true;
};

State& state() {
  static State all;
  return all;
}

thread_local std::unique_ptr<Capture> own_capture;

void run_next(CUstream_st& stream) {
  const Work work = std::move(stream.work.front());
  stream.work.pop_front();
  pass(kOperation);
  work();
}

CUstream_st& stream_of(cudaStream_t stream) { return stream == nullptr ? state().legacy : *stream; }

void reach(const Moment& moment) {
  while (!moment.past) run_next(*moment.stream);
}

bool captured(cudaStream_t stream) {
  return own_capture != nullptr && own_capture->stream == stream;
}

}  // namespace

std::recursive_mutex& machine() {
  static std::recursive_mutex mutex;
  return mutex;
}

void pass(double seconds) { state().now += seconds; }

cudaError_t submit(cudaStream_t stream, Work work) {
  const std::lock_guard lock(machine());
  if (captured(stream))
    own_capture->work.push_back(std::move(work));
  else
    stream_of(stream).work.push_back(std::move(work));
  return cudaSuccess;
}

void finish(cudaStream_t stream) {
  while (!stream_of(stream).work.empty()) run_next(stream_of(stream));
}

void finish_all() {
  finish(nullptr);
  for (cudaStream_t stream : state().streams) finish(stream);
}

bool forbidden_here() {
  if (own_capture == nullptr) return false;
  own_capture->spoilt = true;
  failed(cudaErrorStreamCaptureUnsupported);
  return true;
}

cudaStream_t new_stream(std::set<int> multiprocessors) {
  const std::lock_guard lock(machine());
  auto* made = new CUstream_st{{}, std::move(multiprocessors), current_context()};
  state().streams.insert(made);
  return made;
}

const void* context_of(cudaStream_t stream) { return stream_of(stream).context; }
void set_context(cudaStream_t stream, const void* context) { stream_of(stream).context = context; }

void when_capture_begins(std::function<void()> call) {
  const std::lock_guard lock(machine());
  state().capture_begins = std::move(call);
}

void set_working(bool works) {
  const std::lock_guard lock(machine());
  state().works = works;
}

Calls& counted() {
  static Calls all;
  return all;
}
Calls calls() {
  const std::lock_guard lock(machine());
  return counted();
}

std::set<int> multiprocessors_of(cudaStream_t stream) { return stream_of(stream).multiprocessors; }

}  // namespace doetune::host_gpu

using namespace doetune::host_gpu;

// -- streams --------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  if (!can_create()) return failed(cudaErrorMemoryAllocation);
  *stream = new_stream(all_multiprocessors());
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(machine());
  finish(stream);
  state().streams.erase(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(machine());
  if (captured(stream) && forbidden_here()) return cudaErrorStreamCaptureUnsupported;
  finish(stream);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(machine());
  if (!state().captures.empty()) {
    for (Capture* capture : state().captures) capture->spoilt = true;
    return failed(cudaErrorStreamCaptureUnsupported);
  }
  finish_all();
  return cudaSuccess;
}

// -- events ---------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(machine());
  auto moment = std::make_shared<Moment>(Moment{&stream_of(stream)});
  event->moment = moment;
  return submit(stream, [moment] {
    moment->past = true;
    moment->seconds = state().now;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  const std::lock_guard lock(machine());
  const auto moment = event->moment;
  return moment == nullptr ? cudaSuccess : submit(stream, [moment] { reach(*moment); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(machine());
  if (event->moment != nullptr) reach(*event->moment);
  return cudaSuccess;
}

/// The device goes on by one operation whenever it is asked.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(machine());
  if (event->moment == nullptr || event->moment->past) return cudaSuccess;
  if (state().works) run_next(*event->moment->stream);
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const std::lock_guard lock(machine());
  ++counted().timings;
  if (start->moment == nullptr || end->moment == nullptr || !end->moment->past)
    return failed(cudaErrorInvalidResourceHandle);
  *milliseconds = static_cast<float>((end->moment->seconds - start->moment->seconds) * 1e3);
  return cudaSuccess;
}

// -- graphs ---------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  std::function<void()> begins;
  {
    const std::lock_guard lock(machine());
    if (own_capture != nullptr) return failed(cudaErrorIllegalState);
    own_capture = std::make_unique<Capture>(Capture{stream});
    state().captures.insert(own_capture.get());
    begins = state().capture_begins;
  }
  if (begins) begins();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(machine());
  *graph = nullptr;
  if (!captured(stream)) return failed(cudaErrorIllegalState);
  state().captures.erase(own_capture.get());
  const auto ended = std::move(own_capture);
  if (ended->spoilt) return failed(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st{std::move(ended->work)};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  if (!can_create()) return failed(cudaErrorMemoryAllocation);
  *made = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return can_create() ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const std::lock_guard lock(machine());
  ++counted().graph_launches;
  for (const Work& work : graph->work) submit(stream, work);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
