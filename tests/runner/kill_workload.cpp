// A fast fake workload: kill_workload RUN ATTEMPT RESULT LOG. Records its execution in LOG, takes a
// few milliseconds, sometimes leaves a process behind, and writes its result.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

void leave_process_behind() {
  if (::fork() != 0) return;
  ::setsid();
  ::sleep(600);
  ::_exit(0);
}

void write_result(const std::string& file, int run) {
  const std::string partial = file + ".partial";
  std::FILE* stream = std::fopen(partial.c_str(), "w");
  std::fprintf(stream, "{\"y\": %d}", run);
  std::fclose(stream);
  ::rename(partial.c_str(), file.c_str());
}

}  // namespace

int main(int, char** arguments) {
  const int run = ::atoi(arguments[1]);
  const std::string line = std::string(arguments[1]) + " " + arguments[2] + "\n";
  const int log = ::open(arguments[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (::write(log, line.data(), line.size()) < 0) return 1;
  if (run % 7 == 0) leave_process_behind();
  ::usleep(static_cast<unsigned>(run % 5) * 1000);
  write_result(arguments[3], run);
  return 0;
}
