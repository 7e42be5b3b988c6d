// Fake cluster clients: scripts of a test, first in PATH.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_directory.h"

namespace doetune::tests {

/// A directory at the front of PATH during the object's lifetime. Scripts find it in $FAKE.
class FakeClients {
 public:
  FakeClients() : path_before_(::getenv("PATH")) {
    ::setenv("PATH", (directory_.path().string() + ":" + path_before_).c_str(), 1);
    ::setenv("FAKE", directory_.path().c_str(), 1);
  }
  ~FakeClients() {
    ::setenv("PATH", path_before_.c_str(), 1);
    ::unsetenv("FAKE");
  }
  FakeClients(const FakeClients&) = delete;
  FakeClients& operator=(const FakeClients&) = delete;

  /// Creates or replaces a client.
  void client(const std::string& name, const std::string& script) const {
    const auto part = directory_ / (name + ".part");
    std::ofstream(part) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(part, std::filesystem::perms::owner_all);
    std::filesystem::rename(part, directory_ / name);
  }

  /// Replaces a file that the scripts read.
  void file(const std::string& name, const std::string& text) const {
    const auto part = directory_ / (name + ".part");
    std::ofstream(part) << text;
    std::filesystem::rename(part, directory_ / name);
  }

  /// The content of a file written by the scripts; empty if there is none.
  std::string text(const std::string& name) const {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TemporaryDirectory directory_;
  std::string path_before_;
};

}  // namespace doetune::tests
