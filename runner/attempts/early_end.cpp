#include "runner/attempts/early_end.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/bounded_file.h"
#include "base/untrusted_json.h"
#include "runner/processes/output_text.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxEarlyEndBytes = 1 << 20;

std::filesystem::path early_end_file(const std::filesystem::path& attempt_directory) {
  return attempt_directory / "ended_early";
}

nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

void write_early_end(const std::filesystem::path& attempt_directory, const study::EarlyEnd& end) {
  nlohmann::json object{{"reason", end.reason}, {"responses", end.responses}};
  for (const auto& [name, range] : end.bounds) {
    object["bounds"][name] = {number_or_null(range.low), number_or_null(range.high)};
  }
  study::write_file_durably(
      early_end_file(attempt_directory),
      object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<study::EarlyEnd> read_early_end(const std::filesystem::path& attempt_directory) {
  const auto text = read_bounded(early_end_file(attempt_directory), kMaxEarlyEndBytes);
  const auto object = text ? parse_untrusted(*text) : std::nullopt;
  if (!object) return std::nullopt;
  study::EarlyEnd end{finite_numbers(*object, "responses"), {}, ""};
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
