#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/nearest_name.h"
#include "study/error.h"
#include "study/files.h"
#include "study/formats/format.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const ResultFormat*, 7> kOrder{
    &kTritonFormat, &kVllmFormat,      &kAiperfFormat, &kGuidellmFormat,
    &kOptunaFormat, &kHyperfineFormat, &kMlflowFormat};

constexpr std::array<std::string_view, 8> kExtensions{".json", ".jsonl", ".csv",    ".yaml",
                                                      ".yml",  ".db",    ".sqlite", ".sqlite3"};
constexpr std::size_t kMaxFiles = 100'000;
constexpr std::size_t kMaxRuns = 1'000'000;

/// The formats by value, for those who list them.
const std::vector<ResultFormat>& formats() {
  static const std::vector<ResultFormat> all = [] {
    std::vector<ResultFormat> values;
    for (const ResultFormat* format : kOrder) values.push_back(*format);
    return values;
  }();
  return all;
}

const ResultFormat* format_of(const ResultFile& file) {
  for (const ResultFormat& format : formats()) {
    if (format.recognises(file)) return &format;
  }
  return nullptr;
}

const ResultFormat* format_named(const std::string& name) {
  std::vector<std::string> names;
  for (const ResultFormat& format : formats()) {
    if (format.name == name) return &format;
    names.emplace_back(format.name);
  }
  throw StudyError(
      fmt::format("there is no format '{}'{}", name, did_you_mean_or_list(name, names)));
}

/// The files below a folder that may hold results, in order of their names.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; entry != end;
       entry.increment(error)) {
    if (error) break;
    const std::string extension = entry->path().extension().string();
    if (!entry->is_regular_file(error) ||
        std::find(kExtensions.begin(), kExtensions.end(), extension) == kExtensions.end()) {
      continue;
    }
    files.push_back(entry->path());
    if (files.size() > kMaxFiles) {
      throw StudyError(fmt::format("{}: more than {} files; name a folder with fewer",
                                   folder.string(), kMaxFiles));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Whether a file of the same format before it has the same name but for the extension, as
/// benchmarks.csv beside benchmarks.json.
bool repeats_file(const fs::path& file, const fs::path& before) {
  return before.parent_path() == file.parent_path() && before.stem() == file.stem();
}

class ResultReader {
 public:
  explicit ResultReader(const ResultSources& sources) : sources_(sources) {
    results_.table.reported = true;
    if (!sources.format.empty()) results_.format = format_named(sources.format);
  }

  Results read() {
    for (const fs::path& path : sources_.paths) {
      std::error_code error;
      fs::is_directory(path, error) ? read_folder(path) : read_named(path);
    }
    std::vector<std::string>& warnings = results_.table.warnings;
    if (results_.table.rows.empty()) {
      throw StudyError(warnings.empty() ? fmt::format("{}: there are no results of {}",
                                                      sources_.paths.front().string(), names())
                                        : warnings.front());
    }
    if (results_.format && results_.format->complete) results_.format->complete(results_.table);
    return std::move(results_);
  }

 private:
  static std::string names() {
    std::string all;
    for (const ResultFormat& format : formats()) {
      all += fmt::format("{}{}", all.empty() ? "" : ", ", format.name);
    }
    return all;
  }

  void read_folder(const fs::path& folder) {
    std::optional<fs::path> before;
    std::vector<fs::path> files = files_below(folder);
    // The JSON of a run comes before its CSV, which has less.
    std::stable_sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
      return a.parent_path() == b.parent_path() && a.stem() == b.stem() &&
             a.extension() == ".json" && b.extension() != ".json";
    });
    for (const fs::path& path : files) {
      if (before && repeats_file(path, *before)) continue;
      try {
        ResultFile file = read_result_file(path);
        const ResultFormat* format = results_.format ? results_.format : format_of(file);
        const bool is_result = format && format->recognises(file) &&
                               !(format->repeats_others && format->repeats_others(path));
        if (!is_result) continue;
        add(file, format);
        before = path;
      } catch (const StudyError& error) {
        results_.table.warnings.push_back(fmt::format("{}; it is left out", error.what()));
      }
    }
  }

  void read_named(const fs::path& path) {
    try {
      ResultFile file = read_result_file(path);
      const ResultFormat* format =
          !sources_.format.empty() ? format_named(sources_.format) : format_of(file);
      if (!format && sources_.paths.size() == 1 && file.documents.empty()) {
        results_.table = read_csv_runs(path);
        return;
      }
      if (!format || !format->recognises(file)) {
        throw StudyError(fmt::format("{}: expected results of {}", path.string(),
                                     format ? std::string(format->name) : names()));
      }
      add(file, format);
    } catch (const StudyError& error) {
      if (sources_.paths.size() == 1) throw;
      results_.table.warnings.push_back(fmt::format("{}; it is left out", error.what()));
    }
  }

  void add(ResultFile& file, const ResultFormat* format) {
    if (results_.format && results_.format != format) {
      throw StudyError(
          fmt::format("{}: results of {} among those of {}; import one after the other",
                      file.path.string(), format->name, results_.format->name));
    }
    results_.format = format;
    file.study = sources_.study;
    RunTable& table = results_.table;
    if (table.place.empty()) table.place = file.at(file.csv.empty() ? 0 : file.csv[0].line);
    table.warnings.insert(table.warnings.end(), file.warnings.begin(), file.warnings.end());
    format->read(file, table);
    if (table.rows.size() > kMaxRuns) {
      throw StudyError(fmt::format("{}: more than {} runs", file.path.string(), kMaxRuns));
    }
  }

  const ResultSources& sources_;
  Results results_;
};

}  // namespace

std::span<const ResultFormat> result_formats() { return formats(); }

bool is_result_file(const fs::path& path) {
  try {
    return format_of(read_result_file(path)) != nullptr;
  } catch (const StudyError&) {
    return false;
  }
}

Results read_results(const ResultSources& sources) { return ResultReader(sources).read(); }

}  // namespace doetune::study
