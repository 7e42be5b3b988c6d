#include "workloads/stream/mps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/processes/child_process.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kControl = "nvidia-cuda-mps-control";
constexpr milliseconds kDaemonGrace{3000};  // for an orderly shutdown
constexpr std::size_t kLongestPath = 80;    // for the daemon's socket paths of up to 108 bytes

Environment daemon_environment(const fs::path& directory) {
  return {{"CUDA_MPS_PIPE_DIRECTORY", directory / "pipe"},
          {"CUDA_MPS_LOG_DIRECTORY", directory / "log"}};
}

/// This process's environment with additional variables.
std::vector<std::string> environment_with(const Environment& set) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const auto same = [&](const auto& variable) { return text.starts_with(variable.first + "="); };
    if (std::ranges::none_of(set, same)) all.push_back(text);
  }
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Waits for a child's end, and returns whether it came in time.
bool ended(pid_t pid, milliseconds patience, int& status) {
  const auto deadline = Clock::now() + patience;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

std::string contents(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t bytes = pread(fd, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text;
}

/// Runs the control program on the daemon of a directory, with `input` as standard input, and
/// returns its output. Throws std::runtime_error.
std::string run_control(const fs::path& directory, std::vector<std::string> words,
                        const std::string& input, milliseconds patience) {
  // Memory files, not pipes: neither side can block on the other.
  const FileDescriptor in = make_memory_file("doetune-mps-input", 0);
  const FileDescriptor out = make_memory_file("doetune-mps-output", 0);
  if (pwrite(in.get(), input.data(), input.size(), 0) != static_cast<ssize_t>(input.size()))
    throw std::bad_alloc();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  words.insert(words.begin(), kControl);
  auto environment = environment_with(daemon_environment(directory));
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, kControl, &actions, nullptr, pointers(words).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT)
    throw std::runtime_error(fmt::format(
        "sharing mps needs {}, which is not in PATH. It comes with the NVIDIA driver (in a "
        "container, mount it from the host): add its directory to PATH, or share as process or "
        "stream",
        kControl));
  if (failed != 0) throw std::system_error(failed, std::generic_category(), kControl);
  int status = 0;
  if (!ended(pid, patience, status)) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    throw std::runtime_error(fmt::format("{} {} did not answer within {:g} s", kControl,
                                         input.empty() ? words.back() : input,
                                         static_cast<double>(patience.count()) / 1000));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format(
        "{} {} failed: {}", kControl, input.empty() ? words.back() : input, contents(out.get())));
  return contents(out.get());
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The last lines of a log, for messages.
std::string last_words(const fs::path& path) {
  constexpr std::size_t kEnough = 500;
  const std::string text = text_of(path);
  return text.size() <= kEnough ? text : text.substr(text.size() - kEnough);
}

std::vector<pid_t> pids_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<pid_t> pids;
  for (pid_t pid = 0; in >> pid;) pids.push_back(pid);
  return pids;
}

/// Waits for all children to end, with a grace period if they were asked to, and kills the rest.
/// Children of a child that ends become this process's own (it is a subreaper), so that a daemon's
/// servers are found too.
void end_children(bool asked) {
  const std::string mine = fmt::format("/proc/self/task/{}/children", getpid());
  const auto deadline = Clock::now() + (asked ? kDaemonGrace : milliseconds(0));
  while (waitpid(-1, nullptr, WNOHANG) >= 0) {
    if (Clock::now() >= deadline)
      for (const pid_t child : pids_in(text_of(mine))) kill(child, SIGKILL);
    std::this_thread::sleep_for(milliseconds(2));
  }
}

/// Creates the daemon's directories and starts it.
void start_daemon(fs::path& directory, milliseconds patience) {
  const std::string temporary = fs::temp_directory_path().string();
  std::string name =
      (temporary.size() <= kLongestPath ? temporary : "/tmp") + "/doetune-mps-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make " + name);
  directory = name;
  for (const auto& [variable, path] : daemon_environment(directory)) fs::create_directory(path);
  run_control(directory, {"-d"}, "", patience);
}

/// In the guard: a session of its own, so that signals to the coordinator's group do not reach it,
/// and no open descriptor but the socket.
void stand_apart(int socket) {
  setsid();
  prctl(PR_SET_NAME, "doetune-mps");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  if (socket > 3) close_range(3, socket - 1, 0);
  close_range(socket + 1, ~0U, 0);
}

/// The main function of the guard: reports "+directory" or "-error", and waits for the other end to
/// close.
[[noreturn]] void guard(int socket, milliseconds patience) {
  stand_apart(socket);
  fs::path directory;
  std::string message;
  try {
    start_daemon(directory, patience);
    message = "+" + directory.string();
  } catch (const std::exception& error) {
    message = std::string("-") + error.what();
  }
  send(socket, message.data(), message.size(), MSG_NOSIGNAL);
  char ignored = 0;
  while (recv(socket, &ignored, 1, 0) > 0) {
  }
  bool asked = false;
  try {
    run_control(directory, {}, "quit", kDaemonGrace);
    asked = true;
  } catch (const std::exception&) {  // they are killed below
  }
  end_children(asked);
  std::error_code nothing_to_do;
  if (!directory.empty()) fs::remove_all(directory, nothing_to_do);
  _exit(0);
}

}  // namespace

MpsDaemon::MpsDaemon(milliseconds patience) : patience_(patience) {
  auto [ours, theirs] = connected_sockets();
  guard_socket_ = std::move(ours);
  guard_ = fork();
  if (guard_ < 0) throw std::system_error(errno, std::generic_category(), "cannot start MPS");
  if (guard_ == 0) guard(theirs.get(), patience);
  theirs.close();
  std::string message(4096, '\0');
  const ssize_t bytes = recv(guard_socket_.get(), message.data(), message.size(), 0);
  message.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  if (message.starts_with('+')) {
    directory_ = message.substr(1);
    return;
  }
  guard_socket_.close();
  waitpid(guard_, nullptr, 0);
  throw std::runtime_error(message.empty() ? "the process that watches MPS died"
                                           : message.substr(1));
}

MpsDaemon::~MpsDaemon() {
  guard_socket_.close();
  waitpid(guard_, nullptr, 0);
}

Environment MpsDaemon::client_environment(int gpus) const {
  Environment environment = daemon_environment(directory_);
  std::string visible = "0";
  for (int gpu = 1; gpu < gpus; ++gpu) visible += "," + std::to_string(gpu);
  environment.emplace_back("CUDA_VISIBLE_DEVICES", visible);
  return environment;
}

std::vector<pid_t> MpsDaemon::clients() const {
  std::vector<pid_t> all;
  for (const pid_t server : pids_in(run_control(directory_, {}, "get_server_list", patience_)))
    for (const pid_t client :
         pids_in(run_control(directory_, {}, fmt::format("get_client_list {}", server), patience_)))
      all.push_back(client);
  return all;
}

void MpsDaemon::verify_attached(const std::vector<pid_t>& processes) const {
  const std::vector<pid_t> attached = clients();
  const auto is_client = [&](pid_t pid) {
    return std::ranges::find(attached, pid) != attached.end();
  };
  const auto count = std::ranges::count_if(processes, is_client);
  if (count == std::ssize(processes)) return;
  throw std::runtime_error(fmt::format(
      "sharing mps: {} of {} executors became clients of the MPS daemon. Its log ends: {}", count,
      processes.size(), last_words(directory_ / "log" / "control.log")));
}

}  // namespace doetune::workloads
