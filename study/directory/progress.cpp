#include "study/directory/progress.h"

#include <fcntl.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <system_error>

#include "base/bounded_file.h"
#include "base/file_descriptor.h"
#include "base/files.h"
#include "base/untrusted_json.h"
#include "study/files.h"

namespace doetune::study {
namespace {

constexpr std::size_t kMaxProgressBytes = 16 << 20, kLastBytes = 64 << 10;

std::optional<ProgressPoint> point_of(std::string_view line) {
  const auto object = parse_untrusted(line);
  if (!object) return std::nullopt;
  const auto step = object->find("step");
  if (step == object->end() || !step->is_number()) return std::nullopt;
  ProgressPoint point{step->get<double>(), finite_numbers(*object, "responses")};
  if (!std::isfinite(point.step) || point.responses.empty()) return std::nullopt;
  return point;
}

/// The points of complete lines: the last one may still be written.
std::vector<ProgressPoint> points_of(std::string_view text) {
  std::vector<ProgressPoint> points;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    auto point = point_of(text.substr(begin, end - begin));
    if (!point) continue;
    while (!points.empty() && points.back().step >= point->step) points.pop_back();
    points.push_back(*std::move(point));
  }
  return points;
}

}  // namespace

std::filesystem::path progress_file(const std::filesystem::path& attempt_directory) {
  return attempt_directory / "progress.jsonl";
}

std::vector<ProgressPoint> read_progress(const std::filesystem::path& attempt_directory) {
  return points_of(read_tail(progress_file(attempt_directory), kMaxProgressBytes));
}

std::optional<ProgressPoint> last_progress(const std::filesystem::path& attempt_directory) {
  const auto points = points_of(read_tail(progress_file(attempt_directory), kLastBytes));
  return points.empty() ? std::nullopt : std::optional(points.back());
}

void append_progress(const std::filesystem::path& attempt_directory, const ProgressPoint& point) {
  create_directories_durably(attempt_directory);
  const nlohmann::json object{{"step", point.step}, {"responses", point.responses}};
  const std::string line = object.dump() + '\n';
  const std::filesystem::path file = progress_file(attempt_directory);
  const FileDescriptor opened(
      ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!opened.is_open() || !write_all(opened.get(), std::as_bytes(std::span(line))))
    fail_at_path(file, std::generic_category().message(errno));
}

}  // namespace doetune::study
