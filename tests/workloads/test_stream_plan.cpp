#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "workloads/stream/stream_plan.h"

using namespace doetune;
using namespace doetune::workloads;

TEST_CASE("a micro-batch holds channels x decode rate x interval images", "[stream]") {
  for (const int channels : {1, 8, 13})
    for (const int rate : {1, 5, 30})
      for (std::int64_t k = 0; k < 50; ++k)
        CHECK(frames_of({channels, static_cast<double>(rate), 1.0, 30, 120}, k).size() ==
              static_cast<std::size_t>(channels * rate));
}

TEST_CASE("fractional rates are kept over time, evenly", "[stream]") {
  const StreamPlan plan{8, 2.3, 0.7, 30, 120};
  std::size_t total = 0;
  std::map<int, int> per_channel;
  for (std::int64_t k = 0; k < 1000; ++k) {
    const auto frames = frames_of(plan, k);
    total += frames.size();
    for (const StreamFrame& frame : frames) ++per_channel[frame.channel];
    CHECK(std::abs(static_cast<double>(frames.size()) - 8 * 2.3 * 0.7) <=
          1.0);  // staggered channels
  }
  CHECK(std::abs(static_cast<double>(total) - 8 * 2.3 * 700) <= 1.0);
  for (const auto& [channel, count] : per_channel) CHECK(std::abs(count - 2.3 * 700) <= 1.0);
}

TEST_CASE("frames come from the clip, each camera at its own position", "[stream]") {
  const StreamPlan plan{4, 30, 1, 30, 120};
  const auto frames = frames_of(plan, 2);
  for (const StreamFrame& frame : frames) CHECK((frame.clip_frame >= 0 && frame.clip_frame < 120));
  CHECK(frames[0].clip_frame != frames[30].clip_frame);
  // At the camera's own rate every frame is taken once.
  for (int i = 1; i < 30; ++i) CHECK(frames[i].clip_frame == (frames[i - 1].clip_frame + 1) % 120);
}

TEST_CASE("shares are disjoint, complete, and equal but for one image", "[stream]") {
  const StreamPlan plan{7, 5, 1, 30, 120};
  const auto frames = frames_of(plan, 0);
  for (int executors = 1; executors <= 16; ++executors) {
    std::vector<StreamFrame> joined;
    for (int e = 0; e < executors; ++e) {
      const auto share = share_of(plan, frames, ShareBy::image, e, executors);
      CHECK(std::abs(static_cast<double>(share.size()) - 35.0 / executors) < 1);
      joined.insert(joined.end(), share.begin(), share.end());
    }
    CHECK(joined == frames);
  }
}

TEST_CASE("shared out by channel, a camera stays with one executor, its frames in their order",
          "[stream]") {
  const StreamPlan plan{7, 5, 1, 30, 120};
  for (int executors = 1; executors <= 16; ++executors) {
    std::map<int, int> executor_of;
    std::map<int, std::int64_t> last;
    std::size_t total = 0;
    for (std::int64_t k = 0; k < 3; ++k) {
      for (int e = 0; e < executors; ++e) {
        const auto share = share_of(plan, frames_of(plan, k), ShareBy::channel, e, executors);
        total += share.size();
        for (const StreamFrame& frame : share) {
          CHECK(executor_of.emplace(frame.channel, e).first->second == e);
          CHECK(last.emplace(frame.channel, -1).first->second < frame.source_frame);
          last[frame.channel] = frame.source_frame;
        }
        // Interleaved, so that neighbours are of different cameras where there are several.
        for (std::size_t i = 1; i < share.size() && executors < 4; ++i)
          CHECK(share[i].channel != share[i - 1].channel);
      }
    }
    CHECK(total == 3 * 35);
    for (const auto& [channel, e] : executor_of)  // as even as possible with entire cameras
      CHECK(std::ranges::count_if(executor_of, [&, e = e](const auto& other) {
              return other.second == e;
            }) <= (7 + executors - 1) / executors);
  }
}
