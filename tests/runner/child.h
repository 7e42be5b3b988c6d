// A child process for tests of process observation.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <functional>

namespace doetune::tests {

/// Runs a function in its own process, which is killed by the destructor at the latest.
class Child {
 public:
  explicit Child(const std::function<void()>& work) : pid_(::fork()) {
    if (pid_ == 0) {
      ::setpgid(0, 0);
      work();
      ::_exit(0);
    }
    ::setpgid(pid_, pid_);
  }
  ~Child() {
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  /// Waits for its end; returns its processor time, including that of children it waited for.
  double wait() {
    if (pid_ <= 0) return 0;
    rusage usage{};
    ::wait4(pid_, nullptr, 0, &usage);
    pid_ = -1;
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

 private:
  pid_t pid_;
};

/// Uses this much processor time.
inline void burn(double cpu_s) {
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(cpu_s * CLOCKS_PER_SEC);
  while (std::clock() < end) {
  }
}

}  // namespace doetune::tests
