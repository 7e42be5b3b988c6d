#include "runner/launchers/client_command.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxOutputBytes = 16 << 20;  // enough for 100,000 jobs in a queue
constexpr std::size_t kMaxWordsBytes = 300;
constexpr double kKilledAfter_s = 5;
constexpr double kStoppedWithin_s = 10;  ///< for a client that has to end what it started

/// Reads what is available, and keeps it up to the size limit.
void drain_pipe(FileDescriptor& pipe, std::string& text, bool& cut) {
  std::array<char, 1 << 16> buffer;
  while (pipe.is_open()) {
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return pipe.close();
    const auto kept = std::min(static_cast<std::size_t>(got), kMaxOutputBytes - text.size());
    text.append(buffer.data(), kept);
    cut = cut || kept < static_cast<std::size_t>(got);
  }
}

}  // namespace

std::string ClientAnswer::words() const {
  if (!answered) return "it did not answer";
  std::string_view text = errors.find_first_not_of(" \r\n") != std::string::npos ? errors : output;
  const std::size_t last = text.find_last_not_of(" \r\n");
  if (last == std::string_view::npos) return "it ended without output";
  text = text.substr(0, last + 1);
  std::string line(text.substr(text.rfind('\n') + 1).substr(0, kMaxWordsBytes));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, ' ');
  return line;
}

std::string ClientAnswer::first_words() const {
  ClientAnswer first = *this;
  first.errors.resize(std::min(errors.find('\n'), errors.size()));
  return first.words();
}

ClientCommands::ClientCommands() : events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_.is_open()) throw std::system_error(errno, std::generic_category(), "epoll");
}

ClientCommands::~ClientCommands() {
  for (Running& running : running_) ::kill(-running.process.pid, SIGKILL);
  for (Running& running : running_) ::waitpid(running.process.pid, nullptr, 0);
}

void ClientCommands::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

int ClientCommands::start(const std::vector<std::string>& arguments, double deadline_s,
                          Handler handler, int end_signal) {
  Attempt command;
  command.arguments = arguments;
  command.program = in_path(arguments.front());
  command.working_directory = "/";
  const int number = ++last_number_;
  StartResult started = start_process(command, {}, end_signal);
  if (!started.process) {
    ClientAnswer answer{true, 127, "", started.error};
    ended_.push_back({number, Process(), 0, 0, std::move(handler), std::move(answer)});
    return number;
  }
  running_.push_back({number,
                      std::move(*started.process),
                      end_signal,
                      monotonic_s() + deadline_s,
                      std::move(handler),
                      {}});
  const Process& process = running_.back().process;
  for (const FileDescriptor* source : {&process.handle, &process.output, &process.errors}) {
    watch(source->get());
  }
  return number;
}

void ClientCommands::stop(int number) {
  for (Running& running : running_) {
    if (running.number != number || running.stopped) continue;
    running.stopped = true;
    running.deadline_s = 0;
    if (running.end_signal == SIGKILL) continue;
    ::kill(running.process.pid, running.end_signal);
    running.deadline_s = monotonic_s() + kStoppedWithin_s;
  }
}

/// Reads new output; returns true once the command has ended.
bool ClientCommands::advance(Running& running, double now_s) {
  Process& process = running.process;
  int status = 0;
  bool over = ::waitpid(process.pid, &status, WNOHANG) == process.pid;
  if (!over && now_s >= running.deadline_s) {
    ::kill(-process.pid, SIGKILL);
    over = true;
    const double until_s = now_s + kKilledAfter_s;
    while (::waitpid(process.pid, &status, WNOHANG) == 0 && monotonic_s() < until_s) {
      ::usleep(1000);
    }
    status = SIGKILL;
  }
  drain_pipe(process.output, running.answer.output, running.answer.cut);
  drain_pipe(process.errors, running.answer.errors, running.answer.cut);
  if (!over) return false;
  running.answer.answered = WIFEXITED(status) && !running.stopped;
  running.answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return true;
}

void ClientCommands::wait(double until_s, int wake) {
  for (const Running& running : running_) until_s = std::min(until_s, running.deadline_s);
  if (!ended_.empty()) until_s = 0;
  if (wake >= 0) watch(wake);
  std::array<epoll_event, 16> events;
  const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()),
                                 to_milliseconds(until_s - monotonic_s()));
  if (wake >= 0) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, wake, nullptr);

  std::list<Running> ended = std::exchange(ended_, {});
  const double now_s = monotonic_s();
  if (count > 0 || now_s >= until_s) {
    for (auto it = running_.begin(); it != running_.end();) {
      const auto next = std::next(it);
      if (advance(*it, now_s)) ended.splice(ended.end(), running_, it);
      it = next;
    }
  }
  for (Running& command : ended) command.handler(command.answer);
}

}  // namespace doetune::runner
