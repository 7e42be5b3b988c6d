// Tests that need a GPU.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

/// The test cannot run here: it counts as skipped, or, where DOETUNE_TEST_GPU=1 says that there is
/// a GPU, as failed.
inline void skip_for_want_of_gpu(const std::string& why) {
  const char* said = std::getenv("DOETUNE_TEST_GPU");
  if (said != nullptr && std::string_view(said) == "1")
    FAIL("DOETUNE_TEST_GPU says that there is a GPU, but: " << why);
  WARN("skipped: " << why);
}

/// Whether the test has to end, as there is no such device.
inline bool skipped_without(std::string_view device) {
  try {
    return device_count(device) == 0;
  } catch (const NoDevice& reason) {
    skip_for_want_of_gpu(reason.what());
    return true;
  }
}

}  // namespace doetune::workloads
