#include "workloads/static/static_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {
namespace {

using Passes = std::vector<Pass>;
using PassQuantity = std::function<double(const Pass&)>;

double one(const Pass&) { return 1; }
double total_s(const Pass& pass) { return pass.total_s; }
double images(const Pass& pass) { return static_cast<double>(pass.work.images); }
double detections(const Pass& pass) { return static_cast<double>(pass.work.detections); }
double busy_s(const Pass& pass) { return pass.work.times.sum(); }
double met_fraction(const Pass& pass) { return pass.met_fraction; }

PassQuantity stage_s(Stage stage) {
  return [stage](const Pass& pass) { return pass.work.times[stage]; };
}

/// A response that is a ratio of two sums over the passes.
struct PassRatio {
  std::string name;
  PassQuantity above;
  PassQuantity below;
};

bool is_heat_map(const Head& head) { return std::holds_alternative<HeatMapHead>(head); }

std::vector<PassRatio> ratios(const ResultContext& context) {
  const auto video_s = [rate = context.plan.frames_per_second](const Pass& pass) {
    return images(pass) / rate;
  };
  std::vector<PassRatio> all{{"throughput", images, total_s},
                             {"total_time", total_s, one},
                             {"images", images, one},
                             {"image_time", busy_s, images},
                             {"read_time", stage_s(Stage::read), one},
                             {"decode_time", stage_s(Stage::decode), one},
                             {"resize_time", stage_s(Stage::resize), one},
                             {"infer_time", stage_s(Stage::infer), one},
                             {"post_time", stage_s(Stage::post), one},
                             {"real_time_factor", video_s, total_s},
                             {"deadline_met_share", met_fraction, one}};
  if (!std::holds_alternative<ClassificationHead>(context.head))
    all.push_back({"detections_per_image", detections, images});
  if (is_heat_map(context.head)) {
    all.push_back({"render_time", stage_s(Stage::render), one});
    all.push_back({"write_time", stage_s(Stage::write), one});
  }
  return all;
}

std::vector<double> each(const Passes& passes, const PassQuantity& quantity) {
  std::vector<double> values;
  for (const Pass& pass : passes) values.push_back(quantity(pass));
  return values;
}

double pass_sum(const Passes& passes, const PassQuantity& quantity) {
  return std::transform_reduce(passes.begin(), passes.end(), 0.0, std::plus<>(), quantity);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Passes joined(const std::vector<JobMeasurement>& measured) {
  Passes all;
  for (const JobMeasurement& one_of : measured)
    all.insert(all.end(), one_of.passes.begin(), one_of.passes.end());
  return all;
}

void add_ratios(const std::vector<JobMeasurement>& measured, const Passes& all,
                const ResultContext& context, Result& result) {
  for (const PassRatio& ratio : ratios(context)) {
    for (const JobMeasurement& one_of : measured)
      result.repeats[ratio.name].push_back(pass_sum(one_of.passes, ratio.above) /
                                           pass_sum(one_of.passes, ratio.below));
    const auto interval =
        measurement::ratio_interval(each(all, ratio.above), each(all, ratio.below));
    const auto relative = interval ? interval->relative() : std::nullopt;
    if (relative) result.precision[ratio.name] = *relative;
  }
}

void add_speed_up(const ResultContext& context, Result& result) {
  const auto executors = static_cast<double>(context.executors);
  if (context.executors > 1 && !context.throughput_alone) {
    result.notes["speed_up"] = result.notes["efficiency"] =
        "one executor alone was not measured: the setting baseline sets the time for it";
    return;
  }
  for (const double throughput : result.repeats["throughput"]) {
    const double speed_up = context.throughput_alone ? throughput / *context.throughput_alone : 1.0;
    result.repeats["speed_up"].push_back(speed_up);
    result.repeats["efficiency"].push_back(speed_up / executors);
  }
}

/// Notes for the responses that do not apply to the network.
void add_absences(const ResultContext& context, Result& result) {
  if (std::holds_alternative<ClassificationHead>(context.head))
    result.notes["detections_per_image"] = "the network classifies images and detects no objects";
  if (!is_heat_map(context.head))
    result.notes["render_time"] = result.notes["write_time"] =
        "a video is written only for networks with a heat map, such as tracknet";
}

void add_notes(const std::vector<JobMeasurement>& measured, const Passes& all,
               const ResultContext& context, Result& result) {
  const BatchReport& last = all.back().work;
  result.notes["passes"] = all.size();
  result.notes["executors"] = context.executors;
  result.notes["busy_share"] =
      pass_sum(all, busy_s) / (pass_sum(all, total_s) * static_cast<double>(context.executors));
  if (context.throughput_alone) result.notes["throughput_alone"] = *context.throughput_alone;
  if (last.left_out > 0)
    result.notes["left_out"] =
        fmt::format("{} of {} images were skipped as corrupt", last.left_out, context.plan.images);
  if (last.undecodable > 0)
    result.notes["undecodable"] =
        "frames of the video could not be decoded; each repeats the one before it";
  if (std::holds_alternative<ClassificationHead>(context.head))
    result.notes["classes_seen"] =
        std::transform_reduce(last.classes.begin(), last.classes.end(), 0, std::plus<>(),
                              [](std::uint64_t bits) { return std::popcount(bits); });
  for (const JobMeasurement& one_of : measured) {
    if (one_of.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "the measurement was ended early to meet the time limit";
    if (!one_of.unsteady.empty()) result.notes["steady"] = one_of.unsteady;
  }
  if (static_cast<int>(measured.size()) < context.wanted)
    result.notes["repeats"] = fmt::format("{} of {} measurements fit into the time limit",
                                          measured.size(), context.wanted);
}

/// Steady if all measurements are, not steady if one is not, else unknown.
std::optional<bool> steady(const std::vector<JobMeasurement>& measured) {
  std::optional<bool> all = true;
  for (const JobMeasurement& one_of : measured) {
    if (one_of.steady == false) return false;
    if (!one_of.steady) all.reset();
  }
  return all;
}

}  // namespace

std::vector<Response> static_responses() {
  return {
      {"throughput", "images/s", "images divided by total_time"},
      {"total_time", "s", "time from the first batch handed out to the last result"},
      {"images", "images", "images in one pass over the data set, without corrupt ones"},
      {"image_time", "s", "time that an executor is busy with an image"},
      {"speed_up", "1", "throughput divided by that of one executor alone"},
      {"efficiency", "1", "speed_up divided by the number of executors"},
      {"roofline_fraction", "1",
       "throughput divided by that at the devices' peak rates, layer by layer"},
      {"read_time", "s", "reading image files, summed over all executors for one pass"},
      {"decode_time", "s", "decoding images or video, likewise"},
      {"resize_time", "s", "scaling to the network's input, likewise"},
      {"infer_time", "s", "running the network, likewise"},
      {"post_time", "s", "from the network's output to boxes, classes or spots, likewise"},
      {"render_time", "s", "drawing the spot of the heat map into frames, likewise"},
      {"write_time", "s", "encoding frames and writing the video, likewise"},
      {"real_time_factor", "1", "duration of the video divided by total_time"},
      {"deadline_met_share", "1",
       "fraction of frames done in time if playback starts with the first result"},
      {"detections_per_image", "1", "boxes after non-maximum suppression; spots of a heat map"},
  };
}

Result static_result(const std::vector<JobMeasurement>& measured, const ResultContext& context) {
  const Passes all = joined(measured);
  Result result;
  add_ratios(measured, all, context, result);
  add_speed_up(context, result);
  for (const auto& [name, values] : result.repeats) result.responses[name] = mean(values);
  if (measured.size() == 1) result.repeats.clear();
  add_absences(context, result);
  add_notes(measured, all, context, result);
  std::vector<double> times = each(all, total_s);
  if (times.size() > kLongestSeries) times.erase(times.begin(), times.end() - kLongestSeries);
  result.series["total_time"] = std::move(times);
  result.window = {measured.front().window.first, measured.back().window.second};
  result.steady = steady(measured);
  result.stopped_by = measurement::stopped_by_name(
      std::ranges::max(measured, {}, &JobMeasurement::stopped_by).stopped_by);
  return result;
}

}  // namespace doetune::workloads
