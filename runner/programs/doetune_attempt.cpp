// doetune-attempt DIRECTORY: runs one attempt on this machine, for launchers that reach other
// machines. DIRECTORY holds attempt.json; this program adds the files described in attempt.h and
// touches `alive` while the attempt runs. It stops the attempt when doetune creates a file
// `cancel` there, or on a signal; without that file the signal came from elsewhere, and the attempt
// is lost. Exits with the exit code of the attempt's program; `exit` says how the attempt ended.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "base/standard_streams.h"
#include "runner/attempts/attempt_file.h"
#include "runner/conditions/store.h"
#include "runner/launchers/local_launcher.h"
#include "runner/launchers/usable_gpus.h"
#include "runner/loop/interrupts.h"

namespace {

namespace fs = std::filesystem;
using namespace doetune::runner;

/// GPUs assigned by a scheduler are known only here.
void add_assigned_gpus(Attempt& attempt) {
  if (!attempt.gpus.empty() || attempt.gpus_wanted == 0) return;
  attempt.gpus = visible_devices().value_or(attempt.gpus);
}

/// Touches `alive`. On a full disk or a lost mount the heartbeat is missing for a while.
void beat(const Attempt& attempt) {
  const fs::path alive = attempt.directory / "alive";
  const int file = ::open(alive.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return;
  ::futimens(file, nullptr);
  ::close(file);
}

/// The attempt's directory is STUDY/runs/0007.1.
void run(const Attempt& attempt) {
  note_conditions(attempt.directory.parent_path().parent_path(), attempt.working_directory,
                  attempt.environment);
  SignalInterrupts interrupts;
  LocalLauncher launcher(LocalLauncher::Where::kNode);
  launcher.submit(attempt);
  for (;;) {
    std::error_code ignored;
    const bool signalled = interrupts.count() > 0;  // doetune signals only after creating the file
    if (fs::exists(attempt.directory / "cancel", ignored)) {
      launcher.cancel(attempt.name);
    } else if (signalled) {
      launcher.stop(attempt.name, EndCause::kLost,
                    fmt::format("stopped by a signal on {}, not by doetune", node_name()));
    }
    beat(attempt);
    const auto events = launcher.wait(attempt.heartbeat_s, interrupts.descriptor());
    for (const LauncherEvent& event : events.value_or(std::vector<LauncherEvent>())) {
      if (!event.remark.empty()) {
        doetune::print_message("doetune-attempt: {}: {}\n", attempt.directory.string(),
                               event.remark);
      }
      return;
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  doetune::reserve_standard_descriptors();
  if (count != 2) {
    doetune::print_message("usage: doetune-attempt DIRECTORY\n");
    return 2;
  }
  try {
    Attempt attempt = read_attempt(fs::absolute(arguments[1]));
    add_assigned_gpus(attempt);
    run(attempt);
    const auto end = read_end(attempt.directory);
    return end && end->exit_code ? *end->exit_code : 0;
  } catch (const std::exception& error) {
    doetune::print_message("doetune-attempt: {}\n", error.what());
    return 1;
  }
}
