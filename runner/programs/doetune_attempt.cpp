// doetune-attempt DIRECTORY
// doetune-attempt --print DIRECTORY ATTEMPT REQUEST STUDY
// doetune-attempt --attached DIRECTORY ATTEMPT REQUEST STUDY
//
// Runs one attempt on this machine, for launchers that reach other machines. DIRECTORY holds
// attempt.json; this program adds the files described in attempt.h and touches `alive` while the
// attempt runs. It stops the attempt when doetune creates a file `cancel` there, or on a signal;
// without that file the signal came from elsewhere, and the attempt is lost. Exits with the exit
// code of the attempt's program; `exit` says how the attempt ended. If DIRECTORY has a server.json
// as well, the attempt is the server of a whole plot, whose runs are started here, too
// (plot_host.h).
//
// With --print, DIRECTORY is not shared: the contents of attempt.json, request.json and
// study.yaml are arguments, and what the attempt leaves is printed at the end (printed_attempt.h).
// With --attached, the attempt also ends when nobody reads standard output any more, and DIRECTORY
// is removed after it was printed.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "base/standard_streams.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/printed_attempt.h"
#include "runner/conditions/store.h"
#include "runner/launchers/local_launcher.h"
#include "runner/launchers/usable_gpus.h"
#include "runner/loop/interrupts.h"
#include "runner/servers/plot_host.h"
#include "runner/servers/server_order.h"
#include "study/files.h"

namespace {

namespace fs = std::filesystem;
using namespace doetune::runner;

/// GPUs assigned by a scheduler are known only here.
void add_assigned_gpus(Attempt& attempt) {
  if (!attempt.gpus.empty() || attempt.gpus_wanted == 0) return;
  attempt.gpus = visible_devices().value_or(attempt.gpus);
}

/// Whether whoever started this program still reads what it prints.
bool is_read() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) <= 0 || (output.revents & (POLLERR | POLLHUP)) == 0;
}

void run(const Attempt& attempt, SignalInterrupts& interrupts, bool attached) {
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
    } else if (attached && !is_read()) {
      launcher.stop(attempt.name, EndCause::kLost, "the connection to doetune has ended");
    }
    touch(attempt.directory / "alive");
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

/// Returns the exit code of the attempt's program.
int run(const fs::path& directory, bool attached = false) {
  Attempt attempt = read_attempt(directory);
  add_assigned_gpus(attempt);
  // The attempt's directory is STUDY/runs/0007.1, or STUDY/plots/0003.1.
  note_conditions(directory.parent_path().parent_path(), attempt.working_directory,
                  attempt.environment);
  SignalInterrupts interrupts;
  if (const auto order = read_order(directory)) {
    const auto signalled = [&] { return interrupts.count() > 0; };
    PlotHost(attempt, *order, signalled, interrupts.descriptor()).run();
  } else {
    run(attempt, interrupts, attached);
  }
  const auto end = read_end(directory);
  return end && end->exit_code ? *end->exit_code : 0;
}

int run_and_print(const fs::path& directory, bool attached, const char* attempt,
                  const char* request, const char* study) {
  std::error_code ignored;
  if (attached) fs::remove_all(directory, ignored);  // of a killed run, perhaps of another plan
  doetune::study::create_directories_durably(directory);
  doetune::study::write_file_atomically(directory / "attempt.json", attempt);
  doetune::study::write_file_atomically(directory / "request.json", request);
  doetune::study::write_file_atomically(directory.parent_path().parent_path() / "study.yaml",
                                        study);
  const int status = run(directory, attached);
  fmt::print("{}", printed_attempt(directory));
  if (std::fflush(stdout) != 0) return 1;
  if (attached) fs::remove_all(directory, ignored);
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  doetune::reserve_standard_descriptors();
  const std::string mode = count == 6 ? arguments[1] : "";
  const bool attached = mode == "--attached";
  const bool prints = attached || mode == "--print";
  if (count != 2 && !prints) {
    doetune::print_message(
        "usage: doetune-attempt DIRECTORY\n"
        "       doetune-attempt --print DIRECTORY ATTEMPT REQUEST STUDY\n"
        "       doetune-attempt --attached DIRECTORY ATTEMPT REQUEST STUDY\n");
    return 2;
  }
  try {
    return prints ? run_and_print(fs::absolute(arguments[2]), attached, arguments[3], arguments[4],
                                  arguments[5])
                  : run(fs::absolute(arguments[1]));
  } catch (const std::exception& error) {
    doetune::print_message("doetune-attempt: {}\n", error.what());
    return 1;
  }
}
