#include "runner/attempts/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/steady.h"
#include "runner/processes/output_text.h"

namespace doetune::runner {
namespace {

using Values = std::vector<double>;

constexpr double kMaxMagnitude = 1e100;  ///< keeps sums of squares finite

const nlohmann::json* member(const nlohmann::json* object, const std::string& name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

bool is_sane(const nlohmann::json& value) {
  return value.is_number() && std::abs(value.get<double>()) <= kMaxMagnitude;
}

/// A list of numbers; empty, with a remark, if the value is anything else.
Values values_in(const nlohmann::json* list, const std::string& what, Measured& measured) {
  if (list == nullptr) return {};
  if (!list->is_array() || !std::all_of(list->begin(), list->end(), is_sane)) {
    measured.remarks.push_back(fmt::format("{} was ignored: it is not a list of numbers", what));
    return {};
  }
  return list->get<Values>();
}

void read_window(const nlohmann::json* window, Measured& measured) {
  if (window == nullptr) return;
  if (window->is_array() && window->size() == 2 && is_sane((*window)[0]) && is_sane((*window)[1])) {
    measured.window = {(*window)[0].get<double>(), (*window)[1].get<double>()};
    if (measured.window->first < measured.window->second) return;
    measured.window.reset();
  }
  measured.remarks.push_back(
      "its window was ignored: expected two numbers, start and end in seconds");
}

void read_steady(const nlohmann::json* steady, Measured& measured) {
  if (steady == nullptr) return;
  if (steady->is_boolean()) {
    measured.steady = steady->get<bool>();
  } else {
    measured.remarks.push_back("its steady was ignored: expected true or false");
  }
}

/// The program's own explanation of an unsteady measurement: its note "steady".
void read_unsteady(const nlohmann::json* note, Measured& measured) {
  if (measured.steady != false || note == nullptr || !note->is_string()) return;
  measured.unsteady = {printable(note->get_ref<const std::string&>())};
}

void set_repeats(const std::string& name, const Values& values, Measured& measured) {
  if (values.size() < 2) return;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  measured.repeats[name] = {static_cast<int>(values.size()), mean, squares / (n - 1)};
}

/// The half-width reported by the program, or else computed from the values.
void set_half_width(const std::string& name, const nlohmann::json* given, const Values& repeats,
                    const Values& series, Measured& measured) {
  if (given != nullptr) {
    if (is_sane(*given) && given->get<double>() >= 0) {
      measured.half_width[name] = given->get<double>();
    } else {
      measured.remarks.push_back(
          fmt::format("the precision of '{}' was ignored: it is not a number of at least 0", name));
    }
    return;
  }
  const auto interval = repeats.size() > 1 ? measurement::independent_interval(repeats)
                                           : measurement::mean_interval(series);
  const auto relative = interval ? interval->relative() : std::nullopt;
  if (relative && std::isfinite(*relative)) measured.half_width[name] = *relative;
}

/// Returns whether there were enough values to test.
bool assess(const std::string& name, const Values& values, Measured& measured) {
  const auto assessed = measurement::assess(values);
  if (!assessed) return false;
  auto sentence = measurement::unsteady_sentence(name, *assessed, values.size());
  if (!sentence.empty()) measured.unsteady.push_back(std::move(sentence));
  return true;
}

/// A list among the responses also holds repeats.
const nlohmann::json* repeats_of(const nlohmann::json& object, const std::string& name) {
  const nlohmann::json* responses = member(&object, "responses");
  const nlohmann::json* listed = member(responses != nullptr ? responses : &object, name);
  return listed != nullptr && listed->is_array() ? listed
                                                 : member(member(&object, "repeats"), name);
}

}  // namespace

Measured read_measured(const study::Study& study, const nlohmann::json& object) {
  Measured measured;
  read_window(member(&object, "window"), measured);
  read_steady(member(&object, "steady"), measured);
  read_unsteady(member(member(&object, "notes"), "steady"), measured);
  const bool given = measured.steady == true || !measured.unsteady.empty();
  bool assessed = false;
  for (const study::Response& response : study.responses) {
    const std::string& name = response.name;
    if (!response.formula.empty()) continue;
    const Values repeats =
        values_in(repeats_of(object, name), fmt::format("the list of '{}'", name), measured);
    const Values series = values_in(member(member(&object, "series"), name),
                                    fmt::format("the series of '{}'", name), measured);
    set_repeats(name, repeats, measured);
    set_half_width(name, member(member(&object, "precision"), name), repeats, series, measured);
    if (!given) assessed |= assess(name, series.empty() ? repeats : series, measured);
  }
  if (!measured.steady && assessed) measured.steady = measured.unsteady.empty();
  return measured;
}

std::vector<std::string> measurement_flags(const Measured& measured,
                                           std::optional<double> precision) {
  std::vector<std::string> flags;
  if (measured.steady == false) flags = measured.unsteady;
  if (measured.steady == false && flags.empty()) flags = {"the measurement never became steady"};
  for (const auto& [name, half_width] : measured.half_width) {
    if (!precision || half_width <= *precision) continue;
    flags.push_back(fmt::format("{} has a precision of {:.2g} % instead of the required {:g} %",
                                name, 100 * half_width, 100 * *precision));
  }
  if (precision && measured.half_width.empty()) {
    flags.push_back(
        fmt::format("the precision is unknown ({:g} % required): the program reported no repeats, "
                    "series or precision",
                    100 * *precision));
  }
  flags.insert(flags.end(), measured.remarks.begin(), measured.remarks.end());
  return flags;
}

}  // namespace doetune::runner
