#include "runner/attempts/run_progress.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runner/processes/bounded_file.h"
#include "runner/processes/output_text.h"
#include "runner/processes/untrusted_json.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxProgressBytes = 16 << 20, kLastBytes = 64 << 10;
constexpr std::size_t kMaxEarlyEndBytes = 1 << 20;

std::filesystem::path early_end_file(const std::filesystem::path& attempt_directory) {
  return attempt_directory / "ended_early";
}

/// The finite numbers of an object, by name; empty if it is none.
std::map<std::string, double> finite_numbers(const nlohmann::json& object, const char* key) {
  std::map<std::string, double> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return numbers;
  for (const auto& [name, value] : found->items()) {
    if (value.is_number() && std::isfinite(value.get<double>()))
      numbers[name] = value.get<double>();
  }
  return numbers;
}

std::optional<study::ProgressPoint> point_of(std::string_view line) {
  const auto object = parse_untrusted(line);
  if (!object) return std::nullopt;
  const auto step = object->find("step");
  if (step == object->end() || !step->is_number()) return std::nullopt;
  study::ProgressPoint point{step->get<double>(), finite_numbers(*object, "responses")};
  if (!std::isfinite(point.step) || point.responses.empty()) return std::nullopt;
  return point;
}

/// The points of complete lines: the last one may still be written.
std::vector<study::ProgressPoint> points_of(std::string_view text) {
  std::vector<study::ProgressPoint> points;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    auto point = point_of(text.substr(begin, end - begin));
    if (!point) continue;
    while (!points.empty() && points.back().step >= point->step) points.pop_back();
    points.push_back(*std::move(point));
  }
  return points;
}

nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

std::filesystem::path progress_file(const std::filesystem::path& attempt_directory) {
  return attempt_directory / "progress.jsonl";
}

std::vector<study::ProgressPoint> read_progress(const std::filesystem::path& attempt_directory) {
  return points_of(read_tail(progress_file(attempt_directory), kMaxProgressBytes));
}

std::optional<study::ProgressPoint> last_progress(const std::filesystem::path& attempt_directory) {
  const auto points = points_of(read_tail(progress_file(attempt_directory), kLastBytes));
  return points.empty() ? std::nullopt : std::optional(points.back());
}

void write_early_end(const std::filesystem::path& attempt_directory, const EarlyEnd& end) {
  nlohmann::json object{{"reason", end.reason}, {"responses", end.responses}};
  for (const auto& [name, range] : end.bounds) {
    object["bounds"][name] = {number_or_null(range.low), number_or_null(range.high)};
  }
  study::write_file_durably(
      early_end_file(attempt_directory),
      object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<EarlyEnd> read_early_end(const std::filesystem::path& attempt_directory) {
  const auto text = read_bounded(early_end_file(attempt_directory), kMaxEarlyEndBytes);
  const auto object = text ? parse_untrusted(*text) : std::nullopt;
  if (!object) return std::nullopt;
  EarlyEnd end{finite_numbers(*object, "responses"), {}, ""};
  if (const auto reason = object->find("reason"); reason != object->end() && reason->is_string()) {
    end.reason = printable(reason->get_ref<const std::string&>());
  }
  const auto bounds = object->find("bounds");
  if (bounds == object->end() || !bounds->is_object()) return end;
  for (const auto& [name, ends] : bounds->items()) {
    if (!ends.is_array() || ends.size() != 2) continue;
    study::Range& range = end.bounds[name];
    if (ends[0].is_number()) range.low = ends[0].get<double>();
    if (ends[1].is_number()) range.high = ends[1].get<double>();
  }
  return end;
}

}  // namespace doetune::runner
