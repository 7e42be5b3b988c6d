#include "tests/workloads/program.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <sstream>
#include <thread>

namespace doetune::workloads::test {
namespace fs = std::filesystem;

bool has_bf16() {
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

ProgramDirectory::ProgramDirectory() {
  static int count = 0;
  path = fs::temp_directory_path() /
         ("doetune-program-" + std::to_string(getpid()) + "-" + std::to_string(++count));
  fs::create_directories(path);
}

ProgramDirectory::~ProgramDirectory() { fs::remove_all(path); }

std::string ProgramDirectory::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path / name).rdbuf();
  return text.str();
}

Program::Program(const char* program, const ProgramDirectory& scratch, const Arguments& arguments,
                 const Variables& environment, const std::string& name, rlim_t memory_limit) {
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ > 0) return;
  setenv("XDG_CACHE_HOME", scratch.path.c_str(), 1);
  for (const auto& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
  const rlimit limit{memory_limit, memory_limit};
  setrlimit(RLIMIT_AS, &limit);
  const auto redirect = [&](const char* file, int to) {
    const fs::path path = scratch.path / (name.empty() ? file : name + "." + file);
    dup2(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), to);
  };
  redirect("out", STDOUT_FILENO);
  redirect("err", STDERR_FILENO);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);  // descriptors that the test launcher left open
  std::vector<char*> argv{const_cast<char*>(program)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

Program::~Program() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  exit_code();
}

int Program::exit_code() {
  int status = 0;
  waitpid(pid_, &status, 0);
  ended_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<pid_t> Program::children_of(pid_t pid) {
  std::vector<pid_t> pids;
  std::error_code ended;
  for (const auto& thread :
       fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", ended)) {
    std::ifstream in(thread.path() / "children");
    for (pid_t child = 0; in >> child;) pids.push_back(child);
  }
  std::ranges::sort(pids);  // ranks are started in order
  return pids;
}

std::vector<pid_t> ranks_of(const Program& program, std::size_t count) {
  const pid_t mpirun = program.wait_for_children(1).front();
  for (int attempt = 0; attempt < 6000; ++attempt) {
    if (auto found = Program::children_of(mpirun); found.size() >= count) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL("mpirun has not started " << count << " ranks");
  return {};
}

std::vector<pid_t> Program::wait_for_children(std::size_t count) const {
  for (int attempt = 0; attempt < 6000; ++attempt) {
    if (auto found = children(); found.size() >= count) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL("the program has " << children().size() << " processes, not " << count);
  return {};
}

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

Variables by_files(const ProgramDirectory& scratch) {
  return {{"DOETUNE_REQUEST", scratch.path / "request.json"},
          {"DOETUNE_RESULT", scratch.path / "result.json"}};
}

Json answer_to(const char* program, const ProgramDirectory& scratch, const Json& request,
               const Variables& environment) {
  std::ofstream(scratch / "request.json") << request;
  Variables variables = by_files(scratch);
  variables.insert(variables.end(), environment.begin(), environment.end());
  const int code = Program(program, scratch, {}, variables).exit_code();
  INFO(scratch.read("err"));
  REQUIRE(code == 0);
  return Json::parse(scratch.read("result.json"));
}

}  // namespace doetune::workloads::test
