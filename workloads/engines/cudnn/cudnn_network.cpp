#include "workloads/engines/cudnn/cudnn_network.h"

#include <algorithm>
#include <stdexcept>

#include "workloads/cache.h"

namespace doetune::workloads::cudnn {
namespace {

constexpr std::size_t kHandleBytes = std::size_t{256} << 20;  // a handle takes less

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return free;
}

}  // namespace

Handle::Handle(cudaStream_t stream) {
  const cudnnStatus_t made = cudnnCreate(&handle_);
  // cuDNN has several errors for too little memory, and gives them for other reasons too.
  if (made != CUDNN_STATUS_SUCCESS && free_memory() < kHandleBytes)
    throw CannotRun("not enough GPU memory: starting cuDNN failed");
  check(made, "starting cuDNN");
  check(cudnnSetStream(handle_, stream), "giving cuDNN a stream");
}

CudnnNetwork::CudnnNetwork(const Gpu& gpu, const Network& network, std::span<const float> weights,
                           const CompileOptions& options)
    : gpu_(gpu),
      network_(network),
      options_(options),
      plan_(plan_tensors(network_, channel_multiple(options.precision))),
      uploads_(*gpu.multiprocessors),
      compute_(*gpu.multiprocessors),
      downloads_(*gpu.multiprocessors),
      handle_(compute_),
      weights_(network_, plan_, weights, options.precision, compute_),
      cache_(cache_directory(), gpu.name, cudnnGetVersion()),
      chooser_({handle_, nullptr}, {compute_, gpu.multiprocessors->count()}, cache_,
               proposals_to_time()),
      images_(uploads_, options.threads) {
  if (const DetectionHead* head = boxes()) {
    anchors_ = DeviceBuffer(static_cast<std::int64_t>(head->anchors.size()) * 2 * sizeof(float),
                            "anchors");
    std::vector<float> sizes;
    for (const auto& [width, height] : head->anchors) sizes.insert(sizes.end(), {width, height});
    copy_async(sizes.data(), anchors_.data(), anchors_.bytes(), compute_);
  }
  for (Slot& slot : slots_) make_slot(slot);
  compute_.wait();  // the other streams are not ordered with the copies and clears so far
  prepared(options.batch);
}

CudnnNetwork::~CudnnNetwork() {
  cudaSetDevice(gpu_.index);
  cudaStreamSynchronize(uploads_);
  cudaStreamSynchronize(compute_);
  cudaStreamSynchronize(downloads_);
}

void CudnnNetwork::enter() const { gpu_.multiprocessors->enter(); }

const DetectionHead* CudnnNetwork::boxes() const {
  const auto* head = std::get_if<DetectionHead>(&network_.head);
  if (head == nullptr) return nullptr;
  const auto channels = head->anchors.size() * static_cast<std::size_t>(5 + head->classes);
  return channels == static_cast<std::size_t>(network_.output().channels) ? head : nullptr;
}

BoxGrid CudnnNetwork::grid() const {
  const Shape& shape = network_.output();
  return {shape.height, shape.width, static_cast<int>(boxes()->anchors.size()), boxes()->classes,
          options_.confidence_threshold};
}

void CudnnNetwork::make_slot(Slot& slot) {
  const Shape& in = network_.input;
  const std::int64_t image_bytes = std::int64_t{options_.batch} * in.height * in.width *
                                   plan_.image.pitch * bytes_of(options_.precision);
  slot.image = DeviceBuffer(image_bytes, "input");
  // The padding channels stay zero.
  check(cudaMemsetAsync(slot.image.data(), 0, static_cast<std::size_t>(image_bytes), compute_),
        "clearing input");
  slot.output = DeviceBuffer(float_bytes(network_.output(), options_.batch), "output");
  slot.host_output = PinnedBuffer(slot.output.bytes());
  if (boxes() == nullptr) return;
  const BoxGrid sizes = grid();
  const std::int64_t max_boxes = std::int64_t{sizes.rows} * sizes.columns * sizes.anchors;
  slot.boxes = DeviceBuffer(
      max_boxes * options_.batch * static_cast<std::int64_t>(sizeof(CandidateBox)), "boxes");
  slot.box_counts = DeviceBuffer(options_.batch * static_cast<std::int64_t>(sizeof(int)), "boxes");
  slot.host_boxes = PinnedBuffer(slot.boxes.bytes());
  slot.host_box_counts = PinnedBuffer(slot.box_counts.bytes());
}

View CudnnNetwork::image_view(const Slot& slot) const {
  const Shape& in = network_.input;
  return {slot.image.data(), plan_.image.channels, in.height, in.width, plan_.image.pitch};
}

// -- input ----------------------------------------------------------------------------------------

std::span<float> CudnnNetwork::input() {
  enter();
  Slot& slot = slots_[next_];
  if (slot.host_input.bytes() == 0) {
    const std::int64_t bytes = float_bytes(network_.input, options_.batch);
    slot.host_input = PinnedBuffer(bytes);
    slot.staging = DeviceBuffer(bytes, "input");
  }
  slot.host_filled = true;
  return slot.host_input.as<float>();
}

void CudnnNetwork::load(int image, const DecodedImage& picture, int frame) {
  if (image < 0 || image >= options_.batch || frame < 0 || frame >= network_.images())
    throw std::invalid_argument("load: no such image or frame");
  enter();
  View to = image_view(slots_[next_]);
  const std::int64_t first = pixel_at(to, image, 0, 0) + 3 * frame;
  to.data = static_cast<std::byte*>(to.data) + first * bytes_of(options_.precision);
  images_.load(picture, options_.precision, to);
}

void CudnnNetwork::upload(Slot& slot, int images) {
  if (slot.host_filled) {
    copy_async(slot.host_input.data(), slot.staging.data(), float_bytes(network_.input, images),
               uploads_);
    write_input({options_.precision, images, uploads_},
                static_cast<const float*>(slot.staging.data()), network_.input.channels,
                image_view(slot));
    slot.host_filled = false;
  }
  slot.uploaded.record(uploads_);
}

// -- computation ----------------------------------------------------------------------------------

CudnnNetwork::Prepared& CudnnNetwork::prepared(int images) {
  const auto found = prepared_.find(images);
  if (found != prepared_.end()) return found->second;
  const Preparation alone;
  Prepared made;
  made.pass = std::make_unique<ForwardPass>(
      CompiledLayers{network_, plan_, weights_, options_.precision}, images, chooser_);
  cache_.save();
  void* arena = arenas_.of(made.pass->arena_bytes());
  // A first run outside a graph loads the kernels, which must not happen during capture, and
  // reports errors where they occur. Results not yet read are in other slots.
  run_pass(*made.pass, slots_[next_], arena);
  compute_.wait();
  for (int slot = 0; slot < kSlots; ++slot)
    made.graphs[slot] = CapturedGraph(compute_, [&] { run_pass(*made.pass, slots_[slot], arena); });
  return prepared_.emplace(images, std::move(made)).first->second;
}

void CudnnNetwork::run_pass(const ForwardPass& pass, const Slot& slot, void* arena) {
  auto* output = static_cast<float*>(slot.output.data());
  pass.run({slot.image.data(), arena, output}, handle_, compute_);
  if (boxes() != nullptr)
    find_boxes({options_.precision, pass.images(), compute_}, grid(), output,
               static_cast<const float*>(anchors_.data()),
               static_cast<CandidateBox*>(slot.boxes.data()),
               static_cast<int*>(slot.box_counts.data()));
}

void CudnnNetwork::submit(int images) {
  if (images < 1 || images > options_.batch)
    throw std::invalid_argument("submit: images outside 1..batch");
  if (under_way_ == kLanes) throw std::logic_error("submit: wait for the oldest batch first");
  enter();
  images_.finish();
  Slot& slot = slots_[next_];
  const Prepared& ready = prepared(images);
  upload(slot, images);
  slot.uploaded.hold(compute_);
  ready.graphs[next_].launch(compute_);
  slot.computed.record(compute_);
  slot.images = images;
  download(slot);
  next_ = (next_ + 1) % kSlots;
  ++under_way_;
}

// -- results --------------------------------------------------------------------------------------

void CudnnNetwork::copy_output(Slot& slot, cudaStream_t stream) {
  copy_async(slot.output.data(), slot.host_output.data(),
             float_bytes(network_.output(), slot.images), stream);
  slot.output_copied = true;
}

/// For a detector only the boxes; output() fetches the rest on demand.
void CudnnNetwork::download(Slot& slot) {
  slot.computed.hold(downloads_);
  slot.output_copied = false;
  if (boxes() == nullptr) {
    copy_output(slot, downloads_);
  } else {
    const std::int64_t each = slot.boxes.bytes() / options_.batch;
    copy_async(slot.box_counts.data(), slot.host_box_counts.data(),
               slot.images * static_cast<std::int64_t>(sizeof(int)), downloads_);
    copy_async(slot.boxes.data(), slot.host_boxes.data(), each * slot.images, downloads_);
  }
  slot.done.record(downloads_);
}

void CudnnNetwork::wait() {
  if (under_way_ == 0) throw std::logic_error("wait: no batch was submitted");
  enter();
  current_ = (next_ + kSlots - under_way_) % kSlots;
  slots_[current_].done.wait();
  --under_way_;
}

std::span<const float> CudnnNetwork::output() {
  Slot& slot = slots_[current_];
  if (!slot.output_copied && slot.images > 0) {
    enter();
    copy_output(slot, downloads_);
    downloads_.wait();
  }
  return slot.host_output.as<const float>();
}

std::vector<Detection> CudnnNetwork::detections(int image) {
  const Slot& slot = slots_[current_];
  if (boxes() == nullptr) throw std::logic_error("detections: the network is not a detector");
  if (image < 0 || image >= slot.images)
    throw std::invalid_argument("detections: no such image in the batch");
  const auto all = slot.host_boxes.as<CandidateBox>();
  const std::size_t each = all.size() / static_cast<std::size_t>(options_.batch);
  const auto count = static_cast<std::size_t>(slot.host_box_counts.as<int>()[image]);
  const auto its = all.subspan(each * image, count);
  std::ranges::sort(its, {}, &CandidateBox::index);  // found in arbitrary order
  std::vector<Detection> found;
  for (const CandidateBox& candidate : its) found.push_back(candidate.box);
  return suppress_overlaps(std::move(found), options_.overlap_threshold);
}

std::int64_t CudnnNetwork::device_bytes() const {
  std::int64_t bytes =
      weights_.bytes() + anchors_.bytes() + images_.device_bytes() + arenas_.bytes();
  for (const Slot& slot : slots_)
    bytes += slot.image.bytes() + slot.staging.bytes() + slot.output.bytes() + slot.boxes.bytes() +
             slot.box_counts.bytes();
  return bytes;
}

}  // namespace doetune::workloads::cudnn
