// Preloaded into doetune: one call among those that change files fails, or all from it on; or the
// clock on the wall jumps.
//
//   FAULT_CALL   write, sync or rename
//   FAULT_AT     which of them, from 1, counting those on files under FAULT_UNDER
//   FAULT_UNDER  a directory, absolute
//   FAULT_ERROR  number of the error
//   FAULT_LASTS  1: all later calls fail, too
//   FAULT_CLOCK  a file with the number of seconds by which the clock is wrong, read at each look
//
// Programs that doetune starts are spared, but for the clock.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value != nullptr ? value : "";
}

bool is_under(const std::string& path) {
  static const std::string directory = variable("FAULT_UNDER") + "/";
  return path.compare(0, directory.size(), directory) == 0;
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

std::string absolute(const char* path) {
  if (*path == '/') return path;
  std::array<char, PATH_MAX> directory{};
  return ::getcwd(directory.data(), directory.size()) == nullptr
             ? path
             : std::string(directory.data()) + "/" + path;
}

/// Whether this call is to fail; errno is then set.
bool fails(const char* call, const std::string& path) {
  static const bool here = std::string(program_invocation_short_name) == "doetune";
  static const std::string wanted = variable("FAULT_CALL");
  static const long at = std::atol(variable("FAULT_AT").c_str());
  static const bool lasts = variable("FAULT_LASTS") == "1";
  static const int error = std::atoi(variable("FAULT_ERROR").c_str());
  static std::atomic<long> count = 0;
  if (!here || wanted != call || !is_under(path)) return false;
  const long number = ++count;
  if (number != at && !(lasts && number > at)) return false;
  errno = error;
  return true;
}

/// Seconds by which the clock is wrong now.
time_t clock_error() {
  static const std::string file = variable("FAULT_CLOCK");
  if (file.empty()) return 0;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  std::array<char, 32> text{};
  const ssize_t length = ::read(descriptor, text.data(), text.size() - 1);
  ::close(descriptor);
  return length > 0 ? std::atol(text.data()) : 0;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return fails("write", path_of(descriptor)) ? -1 : real(descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
  return fails("write", path_of(descriptor)) ? -1 : real(descriptor, parts, count);
}

int fsync(int descriptor) {
  static auto* const real = next<int(int)>("fsync");
  return fails("sync", path_of(descriptor)) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  static auto* const real = next<int(int)>("fdatasync");
  return fails("sync", path_of(descriptor)) ? -1 : real(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return fails("rename", absolute(to)) ? -1 : real(from, to);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_error();
  return result;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  static auto* const real = next<int(timeval*, void*)>("gettimeofday");
  const int result = real(now, zone);
  if (result == 0) now->tv_sec += clock_error();
  return result;
}

time_t time(time_t* now) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now != nullptr) *now = exact.tv_sec;
  return exact.tv_sec;
}

}  // extern "C"
