// The pipeline on a network that monitors its use: the rules for engines with several lanes
// (engine.h) are followed, and every image is analysed once.
#include <catch2/catch.hpp>

#include <deque>
#include <set>

#include "base/file_descriptor.h"
#include "workloads/stream/pipeline.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// Reports as many boxes as the mean luma of an image, so that images can be distinguished.
class WatchfulNetwork final : public CompiledNetwork {
 public:
  WatchfulNetwork(int lanes, int batch) : lanes_(lanes), batch_(batch) {}

  int lanes() const override { return lanes_; }
  std::span<float> input() override { return {}; }

  void load(int image, const DecodedImage& source, int) override {
    CHECK(static_cast<int>(under_way_.size()) <= (lanes_ == 1 ? 0 : lanes_));
    CHECK(image == static_cast<int>(loading_.size()));
    loading_.push_back(source.view.luma[0]);
  }

  void submit(int images) override {
    CHECK((1 <= images && images <= batch_));
    CHECK(static_cast<int>(under_way_.size()) < lanes_);
    max_under_way = std::max(max_under_way, under_way_.size() + 1);
    if (loading_.empty())
      prepared.insert(images);
    else
      CHECK(prepared.contains(images));
    loading_.resize(images);
    under_way_.push_back(std::exchange(loading_, {}));
  }

  void wait() override {
    REQUIRE_FALSE(under_way_.empty());
    done_ = under_way_.front();
    under_way_.pop_front();
  }

  std::span<const float> output() override { return {}; }

  std::vector<Detection> detections(int image) override {
    return std::vector<Detection>(done_.at(image));
  }

  std::int64_t device_bytes() const override { return 0; }

  std::set<int> prepared;
  std::size_t max_under_way = 0;

 private:
  int lanes_, batch_;
  std::vector<int> loading_, done_;
  std::deque<std::vector<int>> under_way_;
};

}  // namespace

TEST_CASE("each image of a share is analysed once, within the lanes that there are", "[pipeline]") {
  const FileDescriptor file = open_clip({64, 48, 40, 3}, {});
  const Clip clip = Clip::read(file.get(), true).value();
  std::vector<StreamFrame> frames;
  std::int64_t expected = 0;
  FrameDecoder decoder;
  for (int i = 0; i < 40; ++i) frames.push_back({0, i, i});
  for (const int lanes : {1, 2, 3})
    for (const int batch : {1, 3, 8, 64})
      for (const int decoders : {0, 2})
        for (const int images : {0, 1, 8, 23, 40}) {
          CAPTURE(lanes, batch, decoders, images);
          WatchfulNetwork network(lanes, batch);
          Decoders sources(clip, decoders, 6);
          Pipeline pipeline(network, sources, batch);
          expected = 0;
          for (int i = 0; i < images; ++i) expected += decoder.decode(clip.packet(i)).luma[0];
          for (int repeat = 0; repeat < 2; ++repeat) {
            sources.begin({frames.begin(), frames.begin() + images}, false);
            const ShareReport report = pipeline.process(images);
            CHECK(report.images == images);
            CHECK(report.detections == expected);
            CHECK((report.decode_s > 0) == (images > 0));
          }
          const int batches = (images + batch - 1) / batch;
          CHECK(network.max_under_way == static_cast<std::size_t>(std::min(lanes, batches)));
        }
}
