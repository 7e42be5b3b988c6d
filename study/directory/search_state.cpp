#include "study/directory/search_state.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/bounded_file.h"
#include "base/json_format.h"
#include "base/text.h"
#include "base/untrusted_json.h"
#include "study/directory/directory.h"
#include "study/files.h"

namespace doetune::study {
namespace {

constexpr std::size_t kMaxBytes = 64 << 10;
constexpr double kMaxCount = 1e9;

std::filesystem::path file_in(const std::filesystem::path& directory) {
  return directory / "search.json";
}

json::Format<SearchState> format() {
  return json::object<SearchState>({{"budget", &SearchState::budget},
                                    {"tolerance", &SearchState::tolerance},
                                    {"time_s", &SearchState::seconds},
                                    {"gpu_time_s", &SearchState::gpu_seconds},
                                    {"energy_j", &SearchState::joules},
                                    {"front", &SearchState::front},
                                    {"small_gains", &SearchState::small_gains},
                                    {"goes_on", &SearchState::goes_on},
                                    {"end", &SearchState::end}});
}

/// Takes a number from `low` on over.
void take(const nlohmann::json& object, const char* key, double low, double& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return;
  const double number = found->get<double>();
  if (std::isfinite(number) && number >= low) value = number;
}

void take(const nlohmann::json& object, const char* key, int& value) {
  double number = value;
  take(object, key, 0, number);
  if (number <= kMaxCount) value = static_cast<int>(number);
}

bool is_set(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && *found == true;
}

}  // namespace

SearchState read_search_state(const std::filesystem::path& directory) {
  SearchState state;
  const std::filesystem::path file = file_in(directory);
  if (!std::filesystem::exists(file)) return state;
  const auto text = read_bounded(file, kMaxBytes);
  const auto object = text ? parse_untrusted(*text) : std::nullopt;
  if (!object) {
    fail_at_path(file,
                 "is damaged: expected a JSON object; remove it, and give --budget and the other "
                 "limits of the search again");
  }
  take(*object, "budget", state.budget);
  take(*object, "tolerance", 0, state.tolerance);
  take(*object, "time_s", 0, state.seconds);
  take(*object, "gpu_time_s", 0, state.gpu_seconds);
  take(*object, "energy_j", 0, state.joules);
  take(*object, "small_gains", state.small_gains);
  state.front = is_set(*object, "front");
  state.goes_on = is_set(*object, "goes_on");
  const auto end = object->find("end");
  if (end == object->end() || !end->is_string()) return state;
  std::string text_of_end = end->get<std::string>();
  if (is_plain_text(text_of_end)) state.end = std::move(text_of_end);
  return state;
}

void write_search_state(const std::filesystem::path& directory, const SearchState& state) {
  const std::filesystem::path file = file_in(directory);
  const std::string text = format().text(state);
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored) && read_file(file) == text) return;
  const DirectoryLock lock(directory);
  write_file_durably(file, text);
}

}  // namespace doetune::study
