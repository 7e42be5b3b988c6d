// The results of the program stream-inference.
#include "tests/workloads/stream_program.h"

#include <numeric>

using namespace doetune;
using namespace doetune::workloads::test;

TEST_CASE("throughput is images over processing time, whatever the settings", "[program]") {
  const ProgramDirectory scratch;
  for (const Arguments& settings : {Arguments{},
                                    {"--executors_per_gpu", "3", "--batch_size", "1"},
                                    {"--executors_per_gpu", "2", "--precision",
                                     has_bf16() ? "bf16" : "fp32", "--arrival", "immediate"}}) {
    const Json json = answer(scratch, with(kSmall, settings));
    const auto times = json["series"]["processing_time"].get<std::vector<double>>();
    const double sum = std::accumulate(times.begin(), times.end(), 0.0);
    const double images = json["notes"]["images"];
    CHECK(images == 4 * 10 * 0.2 * static_cast<double>(times.size()));
    CHECK(json["notes"]["micro_batches"] == times.size());
    CHECK(times.size() >= 2);
    const Json& responses = json["responses"];
    CHECK(responses["throughput"].get<double>() == Approx(images / sum));
    CHECK(responses["processing_time"].get<double>() ==
          Approx(sum / static_cast<double>(times.size())));
    CHECK(responses["scheduling_delay"].get<double>() >= 0);
    CHECK((responses["decode_share"].get<double>() > 0 &&
           responses["decode_share"].get<double>() < 1));
  }
}

TEST_CASE("the number of executors and the batch size do not change what is detected",
          "[program]") {
  const ProgramDirectory scratch;
  // The first two micro-batches, whatever their speed.
  const Arguments two = with(kSmall, {"--arrival", "immediate", "--warmup", "0", "--duration", "0",
                                      "--confidence_threshold", "0.01"});
  const double alone = answer(scratch, two)["responses"]["detections_per_image"];
  CHECK(alone > 0);
  const Json shared = answer(scratch, with(two, {"--executors_per_gpu", "3", "--batch_size", "2"}));
  CHECK(shared["responses"]["detections_per_image"] == alone);
}

TEST_CASE("how executors are placed, decoders and their number do not change what is detected",
          "[program]") {
  const ProgramDirectory scratch;
  const auto same = [&](const std::string& codec, const std::vector<Arguments>& ways) {
    // 5 cameras, and clips that repeat.
    const Arguments some = with(kSmall, {"--channels", "5", "--input_size", "96", "--codec", codec,
                                         "--arrival", "immediate", "--warmup", "0", "--duration",
                                         "0", "--batches", "4", "--confidence_threshold", "0.08"});
    const double alone = answer(scratch, some)["responses"]["detections_per_image"];
    CHECK(alone > 0);
    for (const Arguments& settings : ways) {
      CAPTURE(codec, settings);
      const Json json = answer(scratch, with(some, settings));
      CHECK(json["responses"]["detections_per_image"].get<double>() == alone);
      CHECK(json["notes"]["executors"] == std::stoi(settings[1]));
    }
  };
  same("mjpeg", {{"--executors_per_gpu", "3", "--sharing", "stream"}});
  same("mpeg4", {{"--executors_per_gpu", "2", "--sharing", "stream", "--decoders", "2"},
                 {"--executors_per_gpu", "3", "--sharing", "process", "--decoders", "1"}});
}

TEST_CASE("beyond queue_limit the oldest micro-batches are dropped, and none waits longer",
          "[program]") {
  const ProgramDirectory scratch;
  const Arguments overloaded =
      with(kSmall, {"--channels", "60", "--decode_rate", "30", "--interval", "0.05", "--input_size",
                    "96", "--threads", "1", "--warmup", "0", "--duration", "0", "--batches", "4"});
  const Json limited = answer(scratch, with(overloaded, {"--queue_limit", "2"}));
  CHECK(limited["responses"]["dropped_share"] > 0);
  for (const double delay : limited["series"]["scheduling_delay"]) CHECK(delay <= 2 * 0.05 + 1e-6);
  const Json all = answer(scratch, overloaded);
  CHECK(all["responses"]["dropped_share"] == 0);
  const auto delays = all["series"]["scheduling_delay"].get<std::vector<double>>();
  CHECK(std::ranges::is_sorted(delays));  // grows for as long as the overload lasts
  CHECK(delays.back() > 2 * 0.05);
  CHECK(answer(scratch, with(kSmall, {"--queue_limit", "1000"}))["responses"]["dropped_share"] ==
        0);
}

TEST_CASE("channels max finds the most that are sustained, and measures at them", "[program]") {
  constexpr double interval_s = 0.1;  // enough for a camera on a machine that others use, too
  const ProgramDirectory scratch;
  Json request = immediate_request();
  request["settings"].update({{"channels", "max"},
                              {"arrival", "realtime"},
                              {"interval", interval_s},
                              {"input_size", 96},
                              {"duration", 0.5},
                              {"threads", 1}});
  request["time_limit_s"] = 60;
  const Json result = answer_to(scratch, request);
  const double found = result["responses"]["channels_sustained"];
  CHECK(found >= 1);
  CHECK(result["notes"]["channels"] == found);
  CHECK(result["responses"]["processing_time"] <= interval_s);
  const Json& probes = result["notes"]["probes"];
  CHECK(std::ranges::any_of(probes, [](const Json& probe) { return probe["load"] > 1; }));
  CHECK(probes.back()["channels"] == found);
  CHECK(probes.back()["load"].get<double>() ==
        Approx(result["responses"]["processing_time"].get<double>() / interval_s));
}

TEST_CASE("a search for channels keeps the time limit", "[program]") {
  const ProgramDirectory scratch;
  Json request = immediate_request();
  request["settings"].update({{"channels", "max"}, {"interval", 1}});
  request["time_limit_s"] = 3;
  std::ofstream(scratch.path / "request.json") << request;
  const double before_s = monotonic_s();
  REQUIRE(stream_inference(scratch, {}, by_files(scratch)).exit_code() == 0);
  CHECK(monotonic_s() - before_s < 30);
  CHECK(Json::parse(scratch.read("result.json"))["notes"].contains("search"));
}

TEST_CASE("a request file is answered by a result file", "[program]") {
  const ProgramDirectory scratch;
  Json settings = small_settings();
  std::ofstream(scratch.path / "request.json") << Json{{"study", "s"},
                                                       {"run", 1},
                                                       {"attempt", 1},
                                                       {"replicate", 1},
                                                       {"seed", 5},
                                                       {"factors", {{"executors_per_gpu", 2}}},
                                                       {"settings", settings},
                                                       {"gpus", Json::array()},
                                                       {"cpus", {0}},
                                                       {"time_limit_s", 60}};
  Program program = stream_inference(scratch, {}, by_files(scratch));
  CHECK(program.exit_code() == 0);
  CHECK(Json::parse(scratch.read("result.json"))["responses"]["throughput"] > 0);
  for (const auto& entry : fs::directory_iterator(scratch.path))
    CHECK(entry.path().extension() != ".partial");
  CHECK(scratch.read("out").empty());
}

TEST_CASE("a run measures as often as asked, after the warm-up asked for", "[program]") {
  const ProgramDirectory scratch;
  Json settings = small_settings();
  settings.erase("warmup");
  settings["arrival"] = "immediate";
  settings["duration"] = 0;
  std::ofstream(scratch.path / "request.json")
      << Json{{"settings", settings}, {"warmup_s", 0}, {"repeats", 3}, {"time_limit_s", 60}};
  REQUIRE(stream_inference(scratch, {}, by_files(scratch)).exit_code() == 0);
  const Json result = Json::parse(scratch.read("result.json"));
  CHECK(result["notes"]["micro_batches"] == 6);  // `batches` is 2
  CHECK(result["series"]["processing_time"].size() == 6);
  CHECK_FALSE(result["notes"].contains("repeats"));
  for (const auto& [name, value] : result["responses"].items()) {
    CAPTURE(name);
    const auto repeats = result["repeats"][name].get<std::vector<double>>();
    REQUIRE(repeats.size() == 3);
    CHECK(value.get<double>() == Approx((repeats[0] + repeats[1] + repeats[2]) / 3));
  }
}

TEST_CASE("repeats that the time limit leaves no room for are left out, and the result says so",
          "[program]") {
  const ProgramDirectory scratch;
  Json settings = small_settings();
  std::ofstream(scratch.path / "request.json")
      << Json{{"settings", settings}, {"repeats", 1000}, {"time_limit_s", 4}};
  REQUIRE(stream_inference(scratch, {}, by_files(scratch)).exit_code() == 0);
  const Json result = Json::parse(scratch.read("result.json"));
  CHECK_THAT(result["notes"]["repeats"].get<std::string>(), Catch::Contains(" of 1000 "));
  CHECK(result["responses"]["throughput"] > 0);
}

TEST_CASE("a percentile is given where the micro-batches are enough for it, else a note",
          "[program]") {
  const ProgramDirectory scratch;
  const Arguments quick = with(kSmall, {"--arrival", "immediate", "--duration", "0"});
  const Json few = answer(scratch, with(quick, {"--batches", "11"}));
  CHECK(few["responses"].contains("processing_time_p50"));
  CHECK_FALSE(few["responses"].contains("processing_time_p99"));
  CHECK_THAT(few["notes"]["processing_time_p99"].get<std::string>(), Catch::Contains("needs 662"));
  const Json enough = answer(scratch, with(quick, {"--batches", "662"}));
  auto times = enough["series"]["processing_time"].get<std::vector<double>>();
  std::ranges::sort(times);
  CHECK(enough["responses"]["processing_time_p99"] == times[655]);  // the 656th of 662
  CHECK(enough["responses"]["processing_time_p50"] == times[330]);
  CHECK(enough["precision"]["processing_time_p99"] > 0);
}

TEST_CASE("a measurement for a fixed time states its window and why it ended", "[program]") {
  const ProgramDirectory scratch;
  const double before_s = monotonic_s();
  const Json result = answer(scratch, kSmall);
  CHECK(result["stopped_by"] == "minimum time reached");
  CHECK_FALSE(result.contains("steady"));  // too short to decide
  const auto window = result["window"].get<std::vector<double>>();
  REQUIRE(window.size() == 2);
  CHECK(before_s < window[0]);
  CHECK(window[1] < monotonic_s());
  CHECK(window[0] < window[1]);
}

TEST_CASE("a wanted precision decides how long to measure", "[program]") {
  const ProgramDirectory scratch;
  const auto measured = [&](const Json& wanted) {
    Json request = immediate_request();
    request.update(wanted);
    return answer_to(scratch, request);
  };
  SECTION("steady and as precise as wanted") {
    const Json result = measured({{"precision", 0.8}, {"max_time_s", 600}});
    CHECK(result["stopped_by"] == "precision reached");
    CHECK(result["steady"] == true);
    CHECK(result["precision"]["processing_time"] <= 0.8);
    CHECK(result["notes"]["micro_batches"] >= 20);
  }
  SECTION("at most for the time given") {
    const Json result = measured({{"precision", 1e-6}, {"max_time_s", 0.7}});
    CHECK(result["stopped_by"] == "max_time");
    // None where the time given was too short for eight micro-batches.
    const Json precision = result.value("precision", Json::object());
    CHECK(precision.value("processing_time", 1.0) > 1e-6);
  }
  SECTION("at least for the time given") {
    const Json result = measured({{"precision", 0.9}, {"min_time_s", 0.8}});
    const auto window = result["window"].get<std::vector<double>>();
    CHECK(window[1] - window[0] >= 0.8);
  }
  SECTION("and long enough for the percentiles asked for") {
    const Json result = measured({{"precision", 0.9},
                                  {"max_time_s", 600},
                                  {"responses", {"throughput", "processing_time_p99"}}});
    CHECK(result["notes"]["micro_batches"] >= 662);
    CHECK(result["responses"].contains("processing_time_p99"));
  }
}

TEST_CASE("a percentile that the stream cannot bring together in time is refused before it starts",
          "[program]") {
  const ProgramDirectory scratch;
  Json request = immediate_request();
  request["settings"]["arrival"] = "realtime";  // 662 intervals of 0.2 s
  request.update({{"max_time_s", 100}, {"responses", {"processing_time_p99"}}});
  std::ofstream(scratch.path / "request.json") << request;
  CHECK(stream_inference(scratch, {}, by_files(scratch)).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("needs 662 micro-batches of 0.2 s"));
}

TEST_CASE("describe names the responses that a run gives", "[program]") {
  const ProgramDirectory scratch;
  const Json described = answer(scratch, {"--describe"});
  const Json result = answer(scratch, kSmall);
  CHECK(described["name"] == "stream-inference");
  for (const Json& response : described["responses"]) {
    const auto name = response["name"].get<std::string>();
    CHECK((result["responses"].contains(name) || result["notes"].contains(name)));
  }
}

TEST_CASE("a time limit ends the measurement early, and the result says so", "[program]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch.path / "request.json") << Json{{"settings",
                                                        {{"input_size", 32},
                                                         {"frame_width", 64},
                                                         {"frame_height", 64},
                                                         {"clip_seconds", 0.5},
                                                         {"interval", 0.2},
                                                         {"warmup", 0},
                                                         {"duration", 600}}},
                                                       {"time_limit_s", 3}};
  Program program = stream_inference(scratch, {}, by_files(scratch));
  CHECK(program.exit_code() == 0);
  CHECK(Json::parse(scratch.read("result.json"))["notes"].contains("time_limit"));
}
