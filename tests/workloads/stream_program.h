// The program stream-inference as a running process, for tests from outside.
#pragma once

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
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stream_program {

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
inline const Arguments kSmall{
    "--channels",    "4",   "--decode_rate",  "10", "--interval",     "0.2", "--input_size", "32",
    "--frame_width", "64",  "--frame_height", "64", "--clip_seconds", "0.5", "--warmup",     "0.2",
    "--duration",    "0.3", "--batches",      "2"};

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
inline std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

/// True once no such process is left, or it is a zombie that waits for the system to collect it.
inline bool gone(pid_t pid) {
  for (int attempt = 0; attempt < 500; ++attempt) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(status >> number >> name >> state) || state == "Z" || state == "X") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The environment of a run that is asked and answered through files.
inline std::vector<std::pair<std::string, std::string>> by_files(const Workplace& place) {
  return {{"DOETUNE_REQUEST", place.path / "request.json"},
          {"DOETUNE_RESULT", place.path / "result.json"}};
}

/// Seconds of the clock that a result's window is told in.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The small stream without pauses, and without a least time.
inline Json immediate_request() {
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2)
    settings[kSmall[i].substr(2)] = Json::parse(kSmall[i + 1]);
  settings["arrival"] = "immediate";
  settings["duration"] = 0;
  settings["batches"] = 1;
  return {{"settings", settings}, {"time_limit_s", 900}};
}

inline Json answer(const Workplace& place, const Arguments& arguments) {
  REQUIRE(Program(place, arguments).exit_code() == 0);
  return Json::parse(place.read("out"));
}

}  // namespace stream_program
