// doetune-search DIRECTORY: the program of an attempt at a run with `search: largest`. DIRECTORY is
// that of the attempt; result.json is written there. Exits with 77 if the settings cannot run or no
// load meets the limits, with 1 for any other failure.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/standard_streams.h"
#include "runner/search/search_run.h"
#include "study/files.h"

int main(int count, char** arguments) {
  namespace fs = std::filesystem;
  doetune::reserve_standard_descriptors();
  if (count != 2) {
    doetune::print_message("usage: doetune-search DIRECTORY\n");
    return 2;
  }
  try {
    const fs::path directory = fs::absolute(arguments[1]);
    const doetune::runner::SearchEnd end = doetune::runner::SearchRun(directory).run();
    fmt::print("{}", end.output);
    fmt::print(stderr, "{}", end.errors);
    if (end.exit_code != 0) {
      doetune::print_message("{}\n", end.reason);
    } else {
      doetune::study::write_file_atomically(
          directory / "result.json",
          end.result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    }
    return end.exit_code;
  } catch (const std::exception& error) {
    doetune::print_message("doetune-search: {}\n", error.what());
    return 1;
  }
}
