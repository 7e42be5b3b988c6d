// The program stream-inference as a running process, for black-box tests.
#pragma once

#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "tests/workloads/program.h"

namespace doetune::workloads::test {

namespace fs = std::filesystem;

/// A configuration that takes a second or two: 4 cameras of 64 x 64 pixels, a 32-pixel network, 0.2
/// s intervals.
inline const Arguments kSmall{
    "--channels",    "4",   "--decode_rate",  "10", "--interval",     "0.2", "--input_size", "32",
    "--frame_width", "64",  "--frame_height", "64", "--clip_seconds", "0.5", "--warmup",     "0.2",
    "--duration",    "0.3", "--batches",      "2",  "--roofline",     "off"};

inline Program stream_inference(const ProgramDirectory& scratch, const Arguments& arguments,
                                const Variables& environment = {},
                                rlim_t memory_limit = RLIM_INFINITY) {
  return Program(DOETUNE_STREAM_INFERENCE, scratch, arguments, environment, "", memory_limit);
}

/// The entries of a directory; none where it does not exist.
inline std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

/// The small stream as the settings of a request.
inline Json small_settings() {
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2)
    settings[kSmall[i].substr(2)] =
        kSmall[i] == "--roofline" ? Json(kSmall[i + 1]) : Json::parse(kSmall[i + 1]);
  return settings;
}

/// The small stream without pauses and without a minimum duration.
inline Json immediate_request() {
  Json settings = small_settings();
  settings["arrival"] = "immediate";
  settings["duration"] = 0;
  settings["batches"] = 1;
  return {{"settings", settings}, {"time_limit_s", 900}};
}

inline Json answer(const ProgramDirectory& scratch, const Arguments& arguments) {
  REQUIRE(stream_inference(scratch, arguments).exit_code() == 0);
  return Json::parse(scratch.read("out"));
}

inline Json answer_to(const ProgramDirectory& scratch, const Json& request) {
  return answer_to(DOETUNE_STREAM_INFERENCE, scratch, request);
}

}  // namespace doetune::workloads::test
