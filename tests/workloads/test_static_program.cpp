// Black-box tests of the program static-inference: results, exit codes, and clean-up.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "tests/workloads/made_video.h"
#include "tests/workloads/program.h"
#include "workloads/video/video_file.h"
#include "workloads/video/video_writer.h"

namespace {

using namespace doetune;
using namespace doetune::workloads::test;
using doetune::tests::grey_of;
using doetune::tests::make_video;
using doetune::workloads::VideoReader;
using doetune::workloads::VideoWriter;

/// A configuration that takes a second or less: 32-pixel networks and images.
const Arguments kSmall{"--input_size", "32", "--frame_width", "64",   "--frame_height", "64",
                       "--warmup",     "0",  "--baseline",    "0.05", "--roofline",     "off"};
const Arguments kGenerated = with(kSmall, {"--images", "30"});
/// 128 x 72 pixels, the minimum.
const Arguments kTracknet{"--model",  "tracknet", "--input_size", "72",
                          "--warmup", "0",        "--roofline",   "off"};

Program static_inference(const ProgramDirectory& scratch, const Arguments& arguments,
                         const Variables& environment = {}) {
  return Program(DOETUNE_STATIC_INFERENCE, scratch, arguments, environment);
}

Json answer(const ProgramDirectory& scratch, const Arguments& arguments) {
  Program program = static_inference(scratch, arguments);
  REQUIRE(program.exit_code() == 0);
  return Json::parse(scratch.read("out"));
}

/// Runs the program, checks that it fails with the code, and returns its messages.
std::string failure(const ProgramDirectory& scratch, const Arguments& arguments, int code) {
  Program program = static_inference(scratch, arguments);
  CHECK(program.exit_code() == code);
  return scratch.read("err");
}

Json answer_to(const ProgramDirectory& scratch, const Json& request) {
  return answer_to(DOETUNE_STATIC_INFERENCE, scratch, request);
}

Json small_request() {
  return {{"settings",
           {{"input_size", 32},
            {"frame_width", 64},
            {"frame_height", 64},
            {"images", 8},
            {"warmup", 0}}},
          {"time_limit_s", 900}};
}

/// A directory of PPM images of 20 x 16 pixels, each with a different gradient.
std::string make_images(const ProgramDirectory& scratch, int count) {
  const auto directory = scratch / "images";
  std::filesystem::create_directories(directory / "more");
  for (int i = 0; i < count; ++i) {
    std::ofstream file(directory / (i % 3 == 0 ? "more" : ".") / (std::to_string(i) + ".ppm"),
                       std::ios::binary);
    file << "P6\n20 16\n255\n";
    for (int at = 0; at < 20 * 16 * 3; ++at) file.put(static_cast<char>(at * (i + 3) / 16));
  }
  return directory;
}

}  // namespace

TEST_CASE("throughput is images over total time, whatever the settings", "[program]") {
  const ProgramDirectory scratch;
  for (const Arguments& settings : {Arguments{},
                                    {"--executors_per_gpu", "3", "--batch_size", "4"},
                                    {"--executors_per_gpu", "2", "--schedule", "static",
                                     "--precision", has_bf16() ? "bf16" : "fp32"},
                                    {"--batch_size", "256", "--source_fps", "10"}}) {
    const Json json = answer(scratch, with(kGenerated, settings));
    const Json& responses = json["responses"];
    const double total_s = responses["total_time"];
    CHECK(responses["images"] == 30);
    CHECK(responses["throughput"].get<double>() == Approx(30 / total_s));
    const double rate = settings.size() == 4 && settings[2] == "--source_fps" ? 10 : 30;
    CHECK(responses["real_time_factor"].get<double>() == Approx(30 / rate / total_s));
    const double executors = json["notes"]["executors"];
    CHECK(responses["efficiency"].get<double>() ==
          Approx(responses["speed_up"].get<double>() / executors));
    double busy_s = 0;
    for (const char* stage : {"read", "decode", "resize", "infer", "post"})
      busy_s += responses[std::string(stage) + "_time"].get<double>();
    CHECK(responses["image_time"].get<double>() == Approx(busy_s / 30).epsilon(0.02));
    CHECK(busy_s <= total_s * executors);
  }
}

TEST_CASE("executors, batch size and schedule do not change what is detected", "[program]") {
  const ProgramDirectory scratch;
  const Arguments images =
      with(kSmall, {"--source", make_images(scratch, 23), "--confidence_threshold", "0.01"});
  const Json alone = answer(scratch, images);
  const double detections = alone["responses"]["detections_per_image"];
  CHECK(detections > 0);
  CHECK(alone["responses"]["images"] == 23);
  CHECK(alone["responses"]["read_time"] > 0);
  for (const char* schedule : {"dynamic", "static"})
    for (const char* executors : {"1", "3"}) {
      const Json shared = answer(scratch, with(images, {"--schedule", schedule, "--batch_size", "5",
                                                        "--executors_per_gpu", executors}));
      CHECK(shared["responses"]["detections_per_image"].get<double>() == Approx(detections));
      CHECK(shared["responses"]["images"] == 23);
    }
  CHECK(answer(scratch, with(images, {"--images", "9"}))["responses"]["images"] == 9);
}

TEST_CASE("every network runs", "[program]") {
  const ProgramDirectory scratch;
  const Json described = answer(scratch, {"--describe"});
  for (const Json& model : described["factors"][0]["levels"]) {
    CAPTURE(model);
    const auto name = model.get<std::string>();
    const char* size = name == "alexnet"        ? "224"
                       : name == "inception-v3" ? "75"
                       : name == "tracknet"     ? "72"
                                                : "32";
    const Json json =
        answer(scratch, {"--model", name, "--images", "2", "--batch_size", "1", "--warmup", "0",
                         "--input_size", size, "--frame_width", "64", "--frame_height", "64"});
    for (const Json& response : described["responses"]) {
      const auto its_name = response["name"].get<std::string>();
      CHECK((json["responses"].contains(its_name) || json["notes"].contains(its_name)));
    }
  }
}

TEST_CASE("speed-up is against one of the executors alone, where it was measured", "[program]") {
  const ProgramDirectory scratch;
  CHECK(answer(scratch, kGenerated)["responses"]["speed_up"] == 1);
  const Arguments two = with(kGenerated, {"--executors_per_gpu", "2", "--batch_size", "1"});
  const Json measured = answer(scratch, two);
  CHECK(measured["responses"]["speed_up"].get<double>() ==
        Approx(measured["responses"]["throughput"].get<double>() /
               measured["notes"]["throughput_alone"].get<double>()));
  const Json without = answer(scratch, with(two, {"--baseline", "0"}));
  CHECK_FALSE(without["responses"].contains("speed_up"));
  CHECK_THAT(without["notes"]["efficiency"].get<std::string>(), Catch::Contains("baseline"));
}

TEST_CASE("a run measures whole passes, as many or as long as asked", "[program]") {
  const ProgramDirectory scratch;
  SECTION("passes and repeats") {
    Json request = small_request();
    request["settings"]["passes"] = 3;
    request["repeats"] = 2;
    const Json result = answer_to(scratch, request);
    CHECK(result["notes"]["passes"] == 6);
    CHECK(result["repeats"]["throughput"].size() == 2);
    CHECK(result["series"]["total_time"].size() == 6);
    const auto window = result["window"].get<std::vector<double>>();
    const auto times = result["series"]["total_time"].get<std::vector<double>>();
    CHECK(window[1] - window[0] >= std::accumulate(times.begin(), times.end(), 0.0));
  }
  SECTION("every pass reads and decodes every image") {
    Json request = small_request();
    request["settings"]["source"] = make_images(scratch, 3);
    request["settings"]["images"] = 1;
    request["repeats"] = 4;
    const Json result = answer_to(scratch, request);
    for (const char* stage : {"read_time", "decode_time", "resize_time"})
      for (const Json& time : result["repeats"][stage]) CHECK(time > 0);
  }
  SECTION("a wanted precision") {
    Json request = small_request();
    request["precision"] = 0.5;
    request["max_time_s"] = 600;
    const Json result = answer_to(scratch, request);
    CHECK(result["stopped_by"] == "precision reached");
    CHECK(result["notes"]["passes"] >= 20);
    CHECK(result["precision"]["total_time"] <= 0.5);
  }
  SECTION("the time limit") {
    Json request = small_request();
    request["settings"]["duration"] = 600;
    request["time_limit_s"] = 3;
    CHECK(answer_to(scratch, request)["notes"].contains("time_limit"));
  }
}

TEST_CASE("a video is processed at its own rate, and one that ends early as far as it goes",
          "[program]") {
  const ProgramDirectory scratch;
  make_video(scratch / "whole.avi", {"mpeg4", 40});
  const Arguments whole = with(kSmall, {"--source", scratch / "whole.avi"});
  const Json json = answer(scratch, with(whole, {"--executors_per_gpu", "2", "--batch_size", "3"}));
  const Json& responses = json["responses"];
  CHECK(responses["images"] == 40);
  CHECK(responses["real_time_factor"].get<double>() ==
        Approx(40 / 25.0 / responses["total_time"].get<double>()));
  CHECK_FALSE(json["notes"].contains("video_ends_early"));

  const std::string bytes = scratch.read("whole.avi");
  std::ofstream(scratch / "cut.avi", std::ios::binary) << bytes.substr(0, bytes.size() * 3 / 4);
  const Json cut = answer(scratch, with(kSmall, {"--source", scratch / "cut.avi"}));
  CHECK(cut["responses"]["images"] < 40);
  CHECK(cut["responses"]["images"] > 5);
  CHECK_THAT(cut["notes"]["video_ends_early"].get<std::string>(),
             Catch::Contains("of the 40 frames"));
}

TEST_CASE("a source that cannot be worked on is named, with what is wrong", "[program]") {
  const ProgramDirectory scratch;
  const auto says = [&](const Arguments& arguments, int code, const char* what) {
    CHECK_THAT(failure(scratch, with(kSmall, arguments), code), Catch::Contains(what));
  };
  says({"--batch_size", "0"}, 2, "batch_size");
  says({"--source", scratch / "absent"}, 2, "absent");
  std::filesystem::create_directory(scratch / "empty");
  says({"--source", scratch / "empty"}, 2, "no images");
  std::ofstream(scratch / "text.avi") << "no video";
  says({"--source", scratch / "text.avi"}, 1, "text.avi: cannot be read as a video");
  VideoWriter(scratch / "empty.avi", "avi", 64, 64, 25).finish();
  says({"--source", scratch / "empty.avi"}, 1, "empty.avi: has no frames");
  says({"--model", "alexnet"}, 2, "224");
  says({"--output", scratch / "x.avi"}, 2, "tracknet");
  says({"--model", "tracknet", "--input_size", "72", "--output", scratch / "x.txt"}, 2, ".avi");
  VideoWriter(scratch / "own.avi", "avi", 64, 64, 25).finish();
  says({"--model", "tracknet", "--input_size", "72", "--source", scratch / "own.avi", "--output",
        scratch / "./own.avi"},
       2, "source itself");
  std::ofstream(scratch / "short.weights") << "0123456789";
  says({"--weights", scratch / "short.weights"}, 1, "truncated");
}

TEST_CASE("a broken image ends the run, named, or is left out if asked", "[program]") {
  const ProgramDirectory scratch;
  const std::string images = make_images(scratch, 10);
  std::filesystem::resize_file(scratch / "images/4.ppm", 100);
  const Arguments arguments = with(kSmall, {"--source", images, "--batch_size", "4"});
  CHECK_THAT(failure(scratch, arguments, 1),
             Catch::Contains("images/./4.ppm") || Catch::Contains("images/4.ppm"));
  const Json json = answer(scratch, with(arguments, {"--skip_broken", "true"}));
  CHECK(json["responses"]["images"] == 9);
  CHECK(json["notes"]["left_out"] == "1 of 10 images were skipped as corrupt");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(images))
    if (entry.is_regular_file()) std::filesystem::resize_file(entry, 5);
  CHECK_THAT(failure(scratch, with(arguments, {"--skip_broken", "true"}), 1),
             Catch::Contains("none of the images"));
}

TEST_CASE("tracknet writes a video of as many frames at the same rate, whoever works on it",
          "[program]") {
  const ProgramDirectory scratch;
  make_video(scratch / "in.mp4", {"mpeg4", 11});
  const auto track = [&](const char* output, const Arguments& settings) {
    return answer(scratch, with(with(kTracknet, {"--source", scratch / "in.mp4", "--output",
                                                 scratch / output, "--batch_size", "2"}),
                                settings));
  };
  const Json json = track("alone.avi", {"--threads", "1"});
  VideoReader written(scratch / "alone.avi");
  CHECK(written.information().frames == 11);
  CHECK(written.information().frames_per_second == Approx(25));
  CHECK(written.information().width == 96);
  for (int i = 0; i < 11; ++i) {
    const auto image = written.frame(i);  // a corner, where no ring is drawn
    CHECK(static_cast<int>(image.view.luma[0]) ==
          Approx((grey_of(i) - 16) * 255 / 219.0).margin(6));
  }
  const Json& responses = json["responses"];
  for (const char* stage : {"decode", "resize", "infer", "post", "render", "write"})
    CHECK(responses[std::string(stage) + "_time"] > 0);
  CHECK(responses["deadline_met_share"] > 0);
  track("shared.avi", {"--threads", "2", "--executors_per_gpu", "2"});
  CHECK(scratch.read("shared.avi") == scratch.read("alone.avi"));
  track("kept.mkv", {"--images", "3"});
  CHECK(VideoReader(scratch / "kept.mkv").information().frames == 3);
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path))
    CHECK(entry.path().extension() != ".partial");
}

TEST_CASE("tracknet's frames must be of one size, and its video needs an existing directory",
          "[program]") {
  const ProgramDirectory scratch;
  const std::string images = make_images(scratch, 3);
  CHECK_THAT(
      failure(scratch, with(kTracknet, {"--source", images, "--output", "/nowhere/x.avi"}), 1),
      Catch::Contains("/nowhere/x.avi"));
  std::ofstream(scratch / "images/z.pgm", std::ios::binary) << "P5\n30 30\n255\n"
                                                            << std::string(900, 'x');
  CHECK_THAT(failure(scratch,
                     with(kTracknet,
                          {"--source", images, "--batch_size", "1", "--output", scratch / "x.avi"}),
                     1),
             Catch::Contains("20 x 16") && Catch::Contains("30 x 30"));
  CHECK_FALSE(std::filesystem::exists(scratch / "x.avi"));
  CHECK_FALSE(std::filesystem::exists(scratch / "x.avi.partial"));
}

TEST_CASE("the death of an executor ends the run, named, with nothing left", "[program]") {
  const ProgramDirectory scratch;
  for (const int pause_ms : {0, 500}) {  // during start-up, and while running
    Program program = static_inference(
        scratch, with(kGenerated, {"--executors_per_gpu", "3", "--duration", "600"}));
    const auto executors = program.wait_for_children(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    kill(executors[1], SIGKILL);
    CHECK(program.exit_code() == 1);
    CHECK_THAT(scratch.read("err"),
               Catch::Contains("executor 1 of 3") && Catch::Contains("signal 9"));
    for (const pid_t executor : executors) CHECK(gone(executor));
  }
}

TEST_CASE("executors end with the program, however it ends", "[program]") {
  const ProgramDirectory scratch;
  for (const int signal : {SIGTERM, SIGKILL}) {
    Program program = static_inference(
        scratch, with(kGenerated, {"--executors_per_gpu", "2", "--duration", "600"}));
    const auto executors = program.wait_for_children(2);
    kill(program.pid(), signal);
    CHECK(program.exit_code() == 128 + signal);
    for (const pid_t executor : executors) CHECK(gone(executor));
  }
}

TEST_CASE("without a GPU the device cuda ends with code 77 and says why", "[program]") {
  const ProgramDirectory scratch;
  Program program = static_inference(scratch, with(kGenerated, {"--device", "cuda"}),
                                     {{"CUDA_VISIBLE_DEVICES", ""}});
  CHECK(program.exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Catch::Contains("CUDA") || Catch::Contains("GPU"));
}
