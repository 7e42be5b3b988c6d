// The program stream-inference from outside: its answers, its exit codes, and what it leaves
// behind.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <thread>

namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
namespace fs = std::filesystem;

/// A directory for one test: the program's cache, output and messages.
struct Workplace {
  fs::path path = fs::temp_directory_path() / ("doetune-stream-" + std::to_string(getpid()));
  Workplace() { fs::create_directories(path); }
  ~Workplace() { fs::remove_all(path); }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }
};

/// Small enough for a second or two: 4 cameras of 64 x 64 pixels, a 32-pixel network, 0.2 s
/// intervals.
const Arguments kSmall{"--channels",     "4",   "--decode_rate", "10",  "--interval",     "0.2",
                       "--input_size",   "32",  "--frame_width", "64",  "--frame_height", "64",
                       "--clip_seconds", "0.5", "--warmup",      "0.2", "--duration",     "0.3",
                       "--batches",      "2"};

/// The program as a running process; standard output and error go to files `out` and `err`.
class Program {
 public:
  Program(const Workplace& place, const Arguments& arguments,
          const std::vector<std::pair<std::string, std::string>>& environment = {},
          rlim_t memory_limit = RLIM_INFINITY) {
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    setenv("XDG_CACHE_HOME", place.path.c_str(), 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const rlimit limit{memory_limit, memory_limit};
    setrlimit(RLIMIT_AS, &limit);
    dup2(open((place.path / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open((place.path / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    std::vector<char*> argv{const_cast<char*>(DOETUNE_STREAM_INFERENCE)};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  pid_t pid() const { return pid_; }

  int exit_code() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::vector<pid_t> children() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) +
                     "/children");
    std::vector<pid_t> pids;
    for (pid_t child = 0; in >> child;) pids.push_back(child);
    return pids;
  }

  /// Waits until the stream runs: the executors are started and have had time to become ready.
  std::vector<pid_t> wait_for_children(std::size_t count) const {
    while (children().size() < count) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return children();
  }

 private:
  pid_t pid_ = -1;
};

/// What a directory holds; nothing where there is none.
std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

/// True once no such process is left, or it is a zombie that waits for the system to collect it.
bool gone(pid_t pid) {
  for (int attempt = 0; attempt < 500; ++attempt) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(status >> number >> name >> state) || state == "Z" || state == "X") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The environment of a run that is asked and answered through files.
std::vector<std::pair<std::string, std::string>> by_files(const Workplace& place) {
  return {{"DOETUNE_REQUEST", place.path / "request.json"},
          {"DOETUNE_RESULT", place.path / "result.json"}};
}

/// Seconds of the clock that a result's window is told in.
double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The small stream without pauses, and without a least time.
Json immediate_request() {
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2)
    settings[kSmall[i].substr(2)] = Json::parse(kSmall[i + 1]);
  settings["arrival"] = "immediate";
  settings["duration"] = 0;
  settings["batches"] = 1;
  return {{"settings", settings}, {"time_limit_s", 900}};
}

Json answer(const Workplace& place, const Arguments& arguments) {
  REQUIRE(Program(place, arguments).exit_code() == 0);
  return Json::parse(place.read("out"));
}

}  // namespace

TEST_CASE("throughput is images over processing time, whatever the settings", "[program]") {
  const Workplace place;
  for (const Arguments& settings :
       {Arguments{},
        {"--executors_per_gpu", "3", "--batch_size", "1"},
        {"--executors_per_gpu", "2", "--precision", "bf16", "--arrival", "immediate"}}) {
    const Json json = answer(place, with(kSmall, settings));
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
  const Workplace place;
  // The first two micro-batches, whatever their speed.
  const Arguments two = with(kSmall, {"--arrival", "immediate", "--warmup", "0", "--duration", "0",
                                      "--confidence_threshold", "0.01"});
  const double alone = answer(place, two)["responses"]["detections_per_image"];
  CHECK(alone > 0);
  const Json shared = answer(place, with(two, {"--executors_per_gpu", "3", "--batch_size", "2"}));
  CHECK(shared["responses"]["detections_per_image"] == alone);
}

TEST_CASE("how executors are placed, decoders and their number do not change what is detected",
          "[program]") {
  const Workplace place;
  const auto same = [&](const std::string& codec, const std::vector<Arguments>& ways) {
    // 5 cameras, and clips that repeat.
    const Arguments some = with(kSmall, {"--channels", "5", "--input_size", "96", "--codec", codec,
                                         "--arrival", "immediate", "--warmup", "0", "--duration",
                                         "0", "--batches", "4", "--confidence_threshold", "0.08"});
    const double alone = answer(place, some)["responses"]["detections_per_image"];
    CHECK(alone > 0);
    for (const Arguments& settings : ways) {
      CAPTURE(codec, settings);
      const Json json = answer(place, with(some, settings));
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
  const Workplace place;
  const Arguments overloaded =
      with(kSmall, {"--channels", "60", "--decode_rate", "30", "--interval", "0.05", "--input_size",
                    "96", "--threads", "1", "--warmup", "0", "--duration", "0", "--batches", "4"});
  const Json limited = answer(place, with(overloaded, {"--queue_limit", "2"}));
  CHECK(limited["responses"]["dropped_share"] > 0);
  for (const double delay : limited["series"]["scheduling_delay"]) CHECK(delay <= 2 * 0.05 + 1e-6);
  const Json all = answer(place, overloaded);
  CHECK(all["responses"]["dropped_share"] == 0);
  const auto delays = all["series"]["scheduling_delay"].get<std::vector<double>>();
  CHECK(std::ranges::is_sorted(delays));  // it grows for as long as the overload lasts
  CHECK(delays.back() > 2 * 0.05);
  CHECK(answer(place, with(kSmall, {"--queue_limit", "1000"}))["responses"]["dropped_share"] == 0);
}

TEST_CASE("channels max finds the most that are sustained, and measures at them", "[program]") {
  const Workplace place;
  Json request = immediate_request();
  request["settings"].update({{"channels", "max"},
                              {"arrival", "realtime"},
                              {"interval", 0.05},
                              {"input_size", 96},
                              {"duration", 0.5},
                              {"threads", 1}});
  request["time_limit_s"] = 60;
  std::ofstream(place.path / "request.json") << request;
  REQUIRE(Program(place, {}, by_files(place)).exit_code() == 0);
  const Json result = Json::parse(place.read("result.json"));
  const double found = result["responses"]["channels_sustained"];
  CHECK(found >= 1);
  CHECK(result["notes"]["channels"] == found);
  CHECK(result["responses"]["processing_time"] <= 0.05);
  const Json& probes = result["notes"]["probes"];
  CHECK(std::ranges::any_of(probes, [](const Json& probe) { return probe["load"] > 1; }));
  CHECK(probes.back()["channels"] == found);
  CHECK(probes.back()["load"].get<double>() ==
        Approx(result["responses"]["processing_time"].get<double>() / 0.05));
}

TEST_CASE("a search for channels keeps the time limit", "[program]") {
  const Workplace place;
  Json request = immediate_request();
  request["settings"].update({{"channels", "max"}, {"interval", 1}});
  request["time_limit_s"] = 3;
  std::ofstream(place.path / "request.json") << request;
  const double before_s = monotonic_s();
  REQUIRE(Program(place, {}, by_files(place)).exit_code() == 0);
  CHECK(monotonic_s() - before_s < 6);
  CHECK(Json::parse(place.read("result.json"))["notes"].contains("search"));
}

TEST_CASE("a request file is answered by a result file", "[program]") {
  const Workplace place;
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2)
    settings[kSmall[i].substr(2)] = Json::parse(kSmall[i + 1]);
  std::ofstream(place.path / "request.json") << Json{{"study", "s"},
                                                     {"run", 1},
                                                     {"attempt", 1},
                                                     {"replicate", 1},
                                                     {"seed", 5},
                                                     {"factors", {{"executors_per_gpu", 2}}},
                                                     {"settings", settings},
                                                     {"gpus", Json::array()},
                                                     {"cpus", {0}},
                                                     {"time_limit_s", 60}};
  Program program(place, {}, by_files(place));
  CHECK(program.exit_code() == 0);
  CHECK(Json::parse(place.read("result.json"))["responses"]["throughput"] > 0);
  CHECK_FALSE(fs::exists(place.path / "result.json.partial"));
  CHECK(place.read("out").empty());
}

TEST_CASE("a run measures as often as asked, after the warm-up asked for", "[program]") {
  const Workplace place;
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2)
    settings[kSmall[i].substr(2)] = Json::parse(kSmall[i + 1]);
  settings.erase("warmup");
  settings["arrival"] = "immediate";
  settings["duration"] = 0;
  std::ofstream(place.path / "request.json")
      << Json{{"settings", settings}, {"warmup_s", 0}, {"repeats", 3}, {"time_limit_s", 60}};
  REQUIRE(Program(place, {}, by_files(place)).exit_code() == 0);
  const Json result = Json::parse(place.read("result.json"));
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
  const Workplace place;
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2)
    settings[kSmall[i].substr(2)] = Json::parse(kSmall[i + 1]);
  std::ofstream(place.path / "request.json")
      << Json{{"settings", settings}, {"repeats", 1000}, {"time_limit_s", 4}};
  REQUIRE(Program(place, {}, by_files(place)).exit_code() == 0);
  const Json result = Json::parse(place.read("result.json"));
  CHECK_THAT(result["notes"]["repeats"].get<std::string>(), Catch::Contains(" of 1000 "));
  CHECK(result["responses"]["throughput"] > 0);
}

TEST_CASE("a percentile is given where the micro-batches are enough for it, else a note",
          "[program]") {
  const Workplace place;
  const Arguments quick = with(kSmall, {"--arrival", "immediate", "--duration", "0"});
  const Json few = answer(place, with(quick, {"--batches", "11"}));
  CHECK(few["responses"].contains("processing_time_p50"));
  CHECK_FALSE(few["responses"].contains("processing_time_p99"));
  CHECK_THAT(few["notes"]["processing_time_p99"].get<std::string>(),
             Catch::Contains("needs 662") && Catch::Contains("were 11"));
  const Json enough = answer(place, with(quick, {"--batches", "662"}));
  auto times = enough["series"]["processing_time"].get<std::vector<double>>();
  std::ranges::sort(times);
  CHECK(enough["responses"]["processing_time_p99"] == times[655]);  // the 656th of 662
  CHECK(enough["responses"]["processing_time_p50"] == times[330]);
  CHECK(enough["precision"]["processing_time_p99"] > 0);
}

TEST_CASE("a measurement for a fixed time tells its window and why it ended", "[program]") {
  const Workplace place;
  const double before_s = monotonic_s();
  const Json result = answer(place, kSmall);
  CHECK(result["stopped_by"] == "least time reached");
  CHECK_FALSE(result.contains("steady"));  // too short to tell
  const auto window = result["window"].get<std::vector<double>>();
  REQUIRE(window.size() == 2);
  CHECK(before_s < window[0]);
  CHECK(window[1] < monotonic_s());
  CHECK(window[0] < window[1]);
}

TEST_CASE("a wanted precision decides how long to measure", "[program]") {
  const Workplace place;
  const auto measured = [&](const Json& wanted) {
    Json request = immediate_request();
    request.update(wanted);
    std::ofstream(place.path / "request.json") << request;
    REQUIRE(Program(place, {}, by_files(place)).exit_code() == 0);
    return Json::parse(place.read("result.json"));
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
    CHECK(result["precision"]["processing_time"] > 1e-6);
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
  const Workplace place;
  Json request = immediate_request();
  request["settings"]["arrival"] = "realtime";  // 662 intervals of 0.2 s
  request.update({{"max_time_s", 100}, {"responses", {"processing_time_p99"}}});
  std::ofstream(place.path / "request.json") << request;
  CHECK(Program(place, {}, by_files(place)).exit_code() == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("needs 662 micro-batches of 0.2 s"));
}

TEST_CASE("describe names the responses that a run gives", "[program]") {
  const Workplace place;
  const Json described = answer(place, {"--describe"});
  const Json result = answer(place, kSmall);
  CHECK(described["name"] == "stream-inference");
  for (const Json& response : described["responses"]) {
    const auto name = response["name"].get<std::string>();
    CHECK((result["responses"].contains(name) || result["notes"].contains(name)));
  }
}

TEST_CASE("wrong inputs end with code 2 and say why", "[program]") {
  const Workplace place;
  CHECK(Program(place, {"--exekutors_per_gpu", "2"}).exit_code() == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("executors_per_gpu"));
  CHECK(Program(place, {"--decode_rate", "20", "--source_fps", "10"}).exit_code() == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("source_fps"));
  CHECK(Program(place, {"--batch_size", "0"}).exit_code() == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("1 to 256"));
  CHECK(Program(place, {"--channels", "most"}).exit_code() == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("or max"));
  for (const std::string sharing : {"mps", "green"}) {
    CHECK(Program(place, {"--device", "cpu", "--sharing", sharing}).exit_code() == 2);
    CHECK_THAT(place.read("err"), Catch::Contains("of GPUs") && Catch::Contains("stream"));
  }
  CHECK(Program(place, {}, {{"DOETUNE_REQUEST", "/nowhere"}, {"DOETUNE_RESULT", "/nowhere"}})
            .exit_code() == 2);
}

TEST_CASE("without a GPU, device cuda ends at once with code 77 and why", "[program]") {
  const Workplace place;
  Program program(place, with(kSmall, {"--device", "cuda"}), {{"CUDA_VISIBLE_DEVICES", ""}});
  CHECK(program.exit_code() == 77);
  CHECK_FALSE(place.read("err").empty());
  CHECK_FALSE(fs::exists(place.path / "doetune"));  // before it made a video
}

TEST_CASE("a weights file that is cut off ends the run with code 1", "[program]") {
  const Workplace place;
  std::ofstream(place.path / "short.weights") << "0123456789";
  CHECK(Program(place, with(kSmall, {"--weights", place.path / "short.weights"})).exit_code() == 1);
  CHECK_THAT(place.read("err"), Catch::Contains("cut off"));
}

TEST_CASE("the death of an executor ends the run, named, with nothing left", "[program]") {
  const Workplace place;
  for (const int pause_ms : {0, 700}) {  // while it starts, and in the stream
    Program program(place, with(kSmall, {"--executors_per_gpu", "3", "--duration", "600"}));
    const auto executors = program.wait_for_children(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    kill(executors[1], SIGKILL);
    CHECK(program.exit_code() == 1);
    CHECK_THAT(place.read("err"),
               Catch::Contains("executor 1 of 3") && Catch::Contains("signal 9"));
    for (const pid_t executor : executors) CHECK(gone(executor));
  }
}

TEST_CASE("the death of a process of several executors ends the run too", "[program]") {
  const Workplace place;
  Program program(place, with(kSmall, {"--executors_per_gpu", "3", "--sharing", "stream",
                                       "--decoders", "2", "--duration", "600"}));
  const auto executors = program.wait_for_children(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  CHECK(program.children().size() == 1);
  kill(executors[0], SIGKILL);
  CHECK(program.exit_code() == 1);
  CHECK_THAT(place.read("err"),
             Catch::Contains("executors 0 to 2, of 3") && Catch::Contains("signal 9"));
  CHECK(gone(executors[0]));
}

TEST_CASE("executors end with the coordinator, however it ends, and leave no file", "[program]") {
  const Workplace place;
  const auto before = entries("/dev/shm");
  fs::create_directories(place.path / "tmp");
  for (const int signal : {SIGTERM, SIGKILL})
    for (const std::string sharing : {"process", "stream"}) {
      Program program(place,
                      with(kSmall, {"--executors_per_gpu", "2", "--duration", "600", "--sharing",
                                    sharing, "--decoders", "1"}),
                      {{"TMPDIR", place.path / "tmp"}});
      const auto executors = program.wait_for_children(sharing == "process" ? 2 : 1);
      kill(program.pid(), signal);
      CHECK(program.exit_code() == 128 + signal);
      for (const pid_t executor : executors) CHECK(gone(executor));
    }
  CHECK(entries("/dev/shm") == before);
  CHECK(fs::is_empty(place.path / "tmp"));
}

TEST_CASE("what a program leaves that is killed while it makes a video is used up by the next",
          "[program]") {
  const Workplace place;
  {
    Program program(place, with(kSmall, {"--frame_width", "640", "--frame_height", "480",
                                         "--clip_seconds", "20"}));
    while (entries(place.path / "doetune").empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(program.pid(), SIGKILL);
    program.exit_code();
  }
  fs::create_directories(place.path / "doetune");
  const std::string video = "street-64x64-15-frames-seed-1.mjpeg";
  std::ofstream(place.path / "doetune" / (video + ".partial")) << "half of a video";
  CHECK(Program(place, kSmall).exit_code() == 0);
  CHECK(fs::exists(place.path / "doetune" / video));
  for (const fs::path& entry : entries(place.path / "doetune"))
    CHECK((entry.extension() == ".lock" || entry.filename() == video));
}

TEST_CASE("a time limit ends the measurement early, and the result says so", "[program]") {
  const Workplace place;
  std::ofstream(place.path / "request.json") << Json{{"settings",
                                                      {{"input_size", 32},
                                                       {"frame_width", 64},
                                                       {"frame_height", 64},
                                                       {"clip_seconds", 0.5},
                                                       {"interval", 0.2},
                                                       {"warmup", 0},
                                                       {"duration", 600}}},
                                                     {"time_limit_s", 3}};
  Program program(place, {}, by_files(place));
  CHECK(program.exit_code() == 0);
  CHECK(Json::parse(place.read("result.json"))["notes"].contains("time_limit"));
}

TEST_CASE("a precision that the CPU lacks ends with code 77", "[program]") {
  const Workplace place;
  for (const std::string sharing : {"process", "stream"}) {
    // oneDNN pretends to be on an older CPU.
    Program program(
        place,
        with(kSmall, {"--precision", "bf16", "--executors_per_gpu", "2", "--sharing", sharing}),
        {{"ONEDNN_MAX_CPU_ISA", "AVX2"}});
    CHECK(program.exit_code() == 77);
    CHECK_THAT(place.read("err"), Catch::Contains("precision"));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // they need the address space themselves
TEST_CASE("settings that do not fit the memory end with code 77", "[program]") {
  const Workplace place;
  const Arguments large{"--batch_size",  "256", "--input_size", "416",
                        "--decode_rate", "30",  "--interval",   "4"};
  Program program(place, with(kSmall, large), {}, rlim_t{1} << 30);
  CHECK(program.exit_code() == 77);
  CHECK_THAT(place.read("err"), Catch::Contains("memory"));
}
#endif
