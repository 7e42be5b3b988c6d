#include "runner/attempts/attempt_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr double kIntervals = 4;   // a heartbeat may be late if a node swaps or a server is busy
constexpr double kMinStale_s = 1;  // a single core may be occupied by the program
constexpr std::string_view kFenceOwner = R"({"given_up_by":"doetune")";
constexpr std::size_t kMaxOwnerBytes = 1 << 16;

}  // namespace

AttemptWatch::AttemptWatch(std::filesystem::path directory, double heartbeat_s, double now_s)
    : directory_(std::move(directory)),
      stale_after_s_(kIntervals * heartbeat_s + kMinStale_s),
      changed_s_(now_s) {}

bool AttemptWatch::ended() const {
  const FileDescriptor opened(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!opened.is_open() || ::fstatat(opened.get(), "exit", &status, 0) != 0) return false;
  return read_end(directory_).has_value();
}

bool AttemptWatch::claimed() const {
  std::error_code unreadable;  // if unknown, assume a claim to be safe
  return std::filesystem::exists(directory_ / "claim", unreadable) || unreadable;
}

bool AttemptWatch::beating(double now_s) {
  std::error_code none;
  const auto beat = std::filesystem::last_write_time(directory_ / "alive", none);
  const bool changed = !none && beat != beat_;
  if (changed) beat_ = beat;
  if (changed || !claimed()) changed_s_ = now_s;
  return now_s - changed_s_ < stale_after_s_;
}

bool AttemptWatch::fence() const {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory_, ignored)) return true;  // nothing can be started
  if (claim(directory_, fmt::format("{},\"host\":\"{}\",\"pid\":{},\"start\":\"{}\"}}\n",
                                    kFenceOwner, node_name(), ::getpid(), utc_now()))) {
    return true;
  }
  ask_to_stop();
  return false;
}

bool AttemptWatch::fenced() const {
  const auto owner = read_bounded(directory_ / "claim" / "owner", kMaxOwnerBytes);
  return owner && owner->starts_with(kFenceOwner);
}

void AttemptWatch::ask_to_stop() const {
  try {
    study::write_file_atomically(directory_ / "cancel", "");
  } catch (const study::DirectoryError&) {  // the attempt's directory is gone
  }
}

bool was_stopped(const AttemptEnd& end) {
  return end.cause == EndCause::kCancelled || end.cause == EndCause::kLost ||
         (end.cause == EndCause::kExited && end.signal == SIGTERM);
}

AttemptEnd end_of_stopped(const AttemptEnd& end, bool asked) {
  AttemptEnd meant = end;
  meant.cause = asked ? EndCause::kCancelled : EndCause::kLost;
  if (!asked && meant.detail.empty()) {
    meant.detail = fmt::format("stopped on {}, not by doetune", end.host);
  }
  return meant;
}

}  // namespace doetune::runner
