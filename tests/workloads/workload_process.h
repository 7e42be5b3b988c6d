// A workload's program as users start it: from outside, in a directory of its own.
#pragma once

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/temporary_directory.h"

namespace doetune::tests {

using Arguments = std::vector<std::string>;

inline Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

inline std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// A running program whose cache, standard output (`out`) and messages (`err`) are in `place`.
class WorkloadProcess {
 public:
  WorkloadProcess(const char* program, const TemporaryDirectory& place, const Arguments& arguments,
                  const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    setenv("XDG_CACHE_HOME", place.path().c_str(), 1);
    setenv("TMPDIR", place.path().c_str(), 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(open((place / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open((place / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    std::vector<char*> argv{const_cast<char*>(program)};
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

  std::vector<pid_t> wait_for_children(std::size_t count) const {
    while (children().size() < count) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return children();
  }

 private:
  std::vector<pid_t> children() const {
    const std::string number = std::to_string(pid_);
    std::ifstream in("/proc/" + number + "/task/" + number + "/children");
    std::vector<pid_t> pids;
    for (pid_t child = 0; in >> child;) pids.push_back(child);
    return pids;
  }

  pid_t pid_ = -1;
};

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

}  // namespace doetune::tests
