#include "workloads/static/static_executor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <set>
#include <system_error>

#include "workloads/engines/options_json.h"
#include "workloads/networks/heat_map.h"
#include "workloads/processes/worker_pool.h"
#include "workloads/timing/stage_clock.h"
#include "workloads/video/drawing.h"
#include "workloads/video/video.h"

namespace doetune::workloads {
namespace {

/// Draws results into frames and appends the coded frames to a file.
class FrameWriter {
 public:
  explicit FrameWriter(int file) : file_(file) {}

  void write(const YcbcrView& frame, const std::optional<Spot>& spot, BatchReport& report) {
    StageClock clock;
    YcbcrImage decoded = drawable(frame);
    const YcbcrView view = decoded.view();
    constexpr double kRadius = 1.0 / 25;  // of the height
    if (spot)
      draw_ring(decoded, spot->x * view.width, spot->y * view.height, kRadius * view.height);
    clock.lap(report.times[Stage::render]);
    if (!encoder_) encoder_.emplace(view.width, view.height);
    if (report.coded_bytes == 0) {
      report.coded_begin = end_;
      report.width = view.width;
      report.height = view.height;
    }
    const std::vector<std::byte> coded = encoder_->encode(view);
    const auto size = static_cast<std::uint32_t>(coded.size());
    append(std::as_bytes(std::span(&size, 1)));
    append(coded);
    report.coded_bytes = end_ - report.coded_begin;
    clock.lap(report.times[Stage::write]);
  }

 private:
  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), end_);
      if (written <= 0)
        throw std::system_error(errno, std::generic_category(), "cannot store an encoded frame");
      end_ += written;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  int file_;
  std::int64_t end_ = 0;
  std::optional<FrameEncoder> encoder_;
};

class StaticExecutor {
 public:
  explicit StaticExecutor(const StaticExecutorConfig& config)
      : config_(config),
        network_(make_network(config.model, config.input_size)),
        weights_(config.weights_file, Access::read_only),
        source_(open_source(config.data)),
        engine_(make_engine(config.device, {config.gpu})),
        compiled_(engine_->compile(network_, weights_.floats(), config.compile)) {
    if (config.coded_file >= 0) frames_.emplace(config.coded_file);
    for (const int size : batch_sizes()) compiled_->infer(size);  // prepares each batch size
  }

  void serve(const WorkerSocket& socket) {
    using enum WorkerSocket::Received;
    const int lanes = compiled_->lanes();
    // One more batch than there are lanes: it is loaded while they are busy.
    socket.send(ExecutorReady{lanes > 1 ? lanes + 1 : 1});
    BatchOrder batch;
    while (true) {
      const auto received = socket.receive(batch, under_way_.empty());
      if (received == hung_up) return;
      if (received == packet) begin(batch);
      if (received == nothing || static_cast<int>(under_way_.size()) == lanes)
        socket.send(finish_oldest());
    }
  }

 private:
  struct UnderWay {
    BatchReport report;
    /// One per image of the batch, with samples if it is to be drawn on; empty: left out.
    std::vector<std::optional<DecodedImage>> decoded;
  };

  /// All batch sizes of the data set, so that none is prepared later.
  std::set<int> batch_sizes() const {
    const int batch = config_.compile.batch;
    std::set<int> sizes;
    if (config_.data.images >= batch) sizes.insert(batch);
    if (config_.data.images % batch > 0)
      sizes.insert(static_cast<int>(config_.data.images % batch));
    return sizes;
  }

  void begin(const BatchOrder& batch) {
    UnderWay work;
    work.report.number = batch.number;
    if (batch.first != next_) recent_.clear();  // each pass decodes anew, even few images
    next_ = batch.first + batch.count;
    for (int i = 0; i < batch.count; ++i)
      work.decoded.push_back(load(i, batch.first + i, work.report));
    StageClock clock;
    compiled_->submit(static_cast<int>(batch.count));
    // Where the device works asynchronously: what is left of copying the images.
    clock.lap(work.report.times[compiled_->lanes() > 1 ? Stage::resize : Stage::infer]);
    work.report.undecodable = source_->undecodable();
    under_way_.push_back(std::move(work));
  }

  /// Loads an image of the batch and, where the network sees several, those before it.
  std::optional<DecodedImage> load(int image, std::int64_t number, BatchReport& report) try {
    const int stacked = network_.images();
    DecodedImage decoded;
    for (int frame = 0; frame < stacked; ++frame) {
      decoded = recent(std::max<std::int64_t>(0, number - stacked + 1 + frame), report.times);
      StageClock clock;
      compiled_->load(image, decoded, frame);
      clock.lap(report.times[Stage::resize]);
    }
    ++report.images;
    return frames_ ? decoded : DecodedImage();
  } catch (const VideoError&) {
    if (!config_.skip_broken) throw;
    ++report.left_out;
    return std::nullopt;
  }

  /// An image; the frames that the next image shares are kept while images are consecutive.
  const DecodedImage& recent(std::int64_t number, StageTimes& times) {
    const auto kept = std::ranges::find(recent_, number, &Numbered::number);
    if (kept != recent_.end()) return kept->decoded;
    recent_.push_back({number, source_->image(number, times)});
    if (static_cast<int>(recent_.size()) > network_.images()) recent_.pop_front();
    return recent_.back().decoded;
  }

  BatchReport finish_oldest() {
    UnderWay work = std::move(under_way_.front());
    under_way_.pop_front();
    BatchReport& report = work.report;
    StageClock clock;
    compiled_->wait();
    clock.lap(report.times[Stage::infer]);
    for (std::size_t i = 0; i < work.decoded.size(); ++i)
      if (work.decoded[i]) take_result(static_cast<int>(i), *work.decoded[i], report);
    return report;
  }

  void take_result(int image, const DecodedImage& decoded, BatchReport& report) {
    StageClock clock;
    std::optional<Spot> spot;
    if (std::holds_alternative<DetectionHead>(network_.head)) {
      report.detections += static_cast<std::int64_t>(compiled_->detections(image).size());
    } else if (std::holds_alternative<HeatMapHead>(network_.head)) {
      spot = largest_spot(output_of(image), network_.output());
      report.detections += spot.has_value();
    } else {
      const auto logits = output_of(image);
      const auto likeliest =
          static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
      if (likeliest / 64 < report.classes.size())
        report.classes[likeliest / 64] |= std::uint64_t{1} << (likeliest % 64);
    }
    clock.lap(report.times[Stage::post]);
    if (frames_) frames_->write(decoded.view, spot, report);
  }

  std::span<const float> output_of(int image) {
    const auto elements = static_cast<std::size_t>(network_.output().elements());
    return compiled_->output().subspan(elements * static_cast<std::size_t>(image), elements);
  }

  struct Numbered {
    std::int64_t number;
    DecodedImage decoded;
  };

  StaticExecutorConfig config_;
  Network network_;
  Mapping weights_;
  std::unique_ptr<ImageSource> source_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<CompiledNetwork> compiled_;
  std::optional<FrameWriter> frames_;
  std::deque<Numbered> recent_;
  std::int64_t next_ = 0;  ///< number of the image expected if batches are consecutive
  std::deque<UnderWay> under_way_;
};

}  // namespace

std::string to_text(const StaticExecutorConfig& c) {
  const Json json = {{"index", c.index},
                     {"model", c.model},
                     {"input_size", c.input_size},
                     {"device", c.device},
                     {"gpu", c.gpu},
                     {"compile", to_json(c.compile)},
                     {"source", static_cast<int>(c.data.kind)},
                     {"path", Json::binary({c.data.path.begin(), c.data.path.end()})},
                     {"images", c.data.images},
                     {"data_file", c.data.file},
                     {"skip_broken", c.skip_broken},
                     {"weights_file", c.weights_file},
                     {"coded_file", c.coded_file}};
  const auto bytes = Json::to_cbor(json);  // a path may be invalid UTF-8
  return {bytes.begin(), bytes.end()};
}

StaticExecutorConfig static_config_from_text(const std::string& text) {
  const Json json = Json::from_cbor(text);
  StaticExecutorConfig c;
  c.index = json.at("index");
  c.model = json.at("model");
  c.input_size = json.at("input_size");
  c.device = json.at("device");
  c.gpu = json.at("gpu");
  c.compile = compile_options_from(json.at("compile"));
  c.data.kind = static_cast<ImageSet::Kind>(json.at("source").get<int>());
  const auto& path = json.at("path").get_binary();
  c.data.path.assign(path.begin(), path.end());
  c.data.images = json.at("images");
  c.data.file = json.at("data_file");
  c.skip_broken = json.at("skip_broken");
  c.weights_file = json.at("weights_file");
  c.coded_file = json.at("coded_file");
  return c;
}

int run_static_executor(int socket_descriptor) {
  const WorkerSocket socket(socket_descriptor);
  std::string who = "executor";
  return run_worker([&] { return who; },
                    [&] {
                      const std::string text = socket.receive_configuration();
                      if (text.empty()) return;
                      const StaticExecutorConfig config = static_config_from_text(text);
                      who = fmt::format("executor {}", config.index);
                      StaticExecutor(config).serve(socket);
                    });
}

}  // namespace doetune::workloads
