#include "cli/files/desktop.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "runner/processes/program.h"

namespace doetune::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool open_on_desktop(const std::filesystem::path& file) {
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
  const std::string program = runner::in_path("xdg-open").string();
  if (program.empty()) return false;
  std::string name = "xdg-open", argument = std::filesystem::absolute(file).string();
  char* arguments[] = {name.data(), argument.data(), nullptr};
  // Detach it: no output of its own, and no Ctrl-C from the terminal.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed == 0;
}

}  // namespace doetune::cli
