// Waits for other processes that write in a study directory.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "study/directory/directory.h"

namespace doetune::study {

constexpr std::chrono::seconds kPatience{5};  ///< others hold the lock for some milliseconds

/// What `step` returns, which opens the directory and changes it: called again for as long as it
/// throws DirectoryInUse, up to kPatience.
template <typename Step>
auto when_free(const Step& step) {
  constexpr std::chrono::milliseconds kPause{20};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    try {
      return step();
    } catch (const DirectoryInUse&) {
      if (std::chrono::steady_clock::now() > until) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

/// Holds a directory that was opened, and reads it again, since others may have added runs.
inline std::unique_ptr<DirectoryHold> hold_when_free(StudyDirectory& directory) {
  auto hold = when_free([&] { return std::make_unique<DirectoryHold>(directory.path); });
  directory = open_directory(directory.path);
  return hold;
}

}  // namespace doetune::study
