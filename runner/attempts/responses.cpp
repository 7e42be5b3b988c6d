#include "runner/attempts/responses.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/nearest_name.h"
#include "base/untrusted_json.h"
#include "runner/processes/run_error.h"
#include "study/telemetry_quantities.h"

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxNotes = 64;
constexpr std::size_t kMaxNoteBytes = 1024;

/// The JSON object with the measured responses, and the name of its source for messages.
struct Source {
  std::optional<nlohmann::json> object;
  std::string source_name;
};

Source find_object(const AttemptOutput& output) {
  if (output.result) return {parse_untrusted(*output.result), "result.json"};
  return {last_object(output.output), "the output's last JSON object"};
}

std::vector<std::string> keys(const nlohmann::json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

/// A number, or the mean of a list of numbers; NaN for anything else.
double number_in(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_array() || value.empty()) return std::nan("");
  double sum = 0;
  for (const nlohmann::json& repeat : value)
    sum += repeat.is_number() ? repeat.get<double>() : std::nan("");
  return sum / static_cast<double>(value.size());
}

std::string shortened(std::string text) {
  if (text.size() > kMaxNoteBytes) text.resize(kMaxNoteBytes);
  return text;
}

/// The program's notes, and why it stopped measuring.
std::map<std::string, std::string> notes_in(const nlohmann::json& object) {
  std::map<std::string, std::string> notes;
  const auto stopped = object.find("stopped_by");
  if (stopped != object.end() && stopped->is_string())
    notes["stopped_by"] = shortened(stopped->get<std::string>());
  const auto found = object.find("notes");
  if (found == object.end() || !found->is_object()) return notes;
  for (const auto& [name, value] : found->items()) {
    if (notes.size() == kMaxNotes) break;
    const bool text = value.is_string();
    notes[shortened(name)] =
        shortened(text ? value.get<std::string>()
                       : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return notes;
}

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Does not log errors of a pattern, which error() reports. Latin-1, since output may not be UTF-8.
RE2::Options pattern_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

/// The text of the last matching line, or of its first group if there is one.
std::optional<std::string> last_match(const RE2& pattern, std::string_view text) {
  const int wanted = std::min(pattern.NumberOfCapturingGroups(), 1);
  std::array<re2::StringPiece, 2> match;
  while (!text.empty()) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n') + 1;  // 0 for the first line
    const re2::StringPiece line(text.data() + begin, text.size() - begin);
    if (pattern.Match(line, 0, line.size(), RE2::UNANCHORED, match.data(), wanted + 1)) {
      return std::string(match[wanted].data(), match[wanted].size());
    }
    text = text.substr(0, begin);
  }
  return std::nullopt;
}

void read_by_pattern(const study::Response& response, const AttemptOutput& output,
                     ReadResponses& read) {
  const RE2 pattern(response.pattern, pattern_options());
  if (!pattern.ok()) {
    read.problems.push_back(
        fmt::format("the pattern of '{}' cannot be used: {}", response.name, pattern.error()));
    return;
  }
  auto text = last_match(pattern, output.output);
  if (!text) text = last_match(pattern, output.errors);
  if (!text) {
    read.problems.push_back(
        fmt::format("no line of the output matches the pattern of '{}'", response.name));
    return;
  }
  const auto value = number_of(*text);
  if (value && std::isfinite(*value)) {
    read.values[response.name] = *value;
  } else {
    read.problems.push_back(fmt::format(
        "the pattern of '{}' found '{}', which is not a finite number", response.name, *text));
  }
}

const nlohmann::json* member(const nlohmann::json& object, const std::string& name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

/// Members that may contain the responses: "responses" or the whole object, and "repeats" with the
/// single values of responses not in the former.
struct MeasuredMembers {
  const nlohmann::json* responses;
  const nlohmann::json* repeats;  ///< may be null
};

MeasuredMembers members_in(const nlohmann::json& object) {
  const nlohmann::json* responses = member(object, "responses");
  const nlohmann::json* repeats = member(object, "repeats");
  return {responses != nullptr && responses->is_object() ? responses : &object,
          repeats != nullptr && repeats->is_object() ? repeats : nullptr};
}

std::string not_there(const study::Response& response, const MeasuredMembers& members,
                      const std::string& source_name,
                      const std::map<std::string, std::string>& notes) {
  const auto why = notes.find(response.name);  // the program's own explanation
  return fmt::format("{} has no '{}'{}", source_name, response.name,
                     why != notes.end()
                         ? ": " + why->second
                         : did_you_mean_or_list(response.name, keys(*members.responses)));
}

void read_from_object(const study::Response& response, const MeasuredMembers& members,
                      const std::string& source_name, ReadResponses& read) {
  const nlohmann::json* found = member(*members.responses, response.name);
  if (found == nullptr && members.repeats != nullptr)
    found = member(*members.repeats, response.name);
  if (found == nullptr) {
    read.problems.push_back(not_there(response, members, source_name, read.notes));
    return;
  }
  const double value = number_in(*found);
  if (std::isfinite(value)) {
    read.values[response.name] = value;
  } else {
    read.problems.push_back(
        fmt::format("'{}' in {} is not a finite number", response.name, source_name));
  }
}

std::string no_object(const AttemptOutput& output) {
  if (!output.result_problem.empty()) return output.result_problem;
  if (output.result) return "result.json is not a JSON object";
  if (output.output_cut) {
    return fmt::format(
        "it wrote no result.json, and no JSON object that begins in the last {} MiB of standard "
        "output: write a longer one to the file that DOETUNE_RESULT names",
        kTailBytes >> 20);
  }
  return "it wrote no result.json, and no JSON object on standard output, such as {\"NAME\": 1.5}; "
         "a "
         "`pattern` reads a response from other output";
}

/// Whether telemetry measures the response and the program does not report it.
bool is_left_to_runner(const study::Response& response, const Source& source) {
  if (study::find_quantity(response.name) == nullptr) return false;
  if (!source.object) return true;
  const MeasuredMembers members = members_in(*source.object);
  const bool repeated =
      members.repeats != nullptr && member(*members.repeats, response.name) != nullptr;
  return member(*members.responses, response.name) == nullptr && !repeated;
}

}  // namespace

ReadResponses read_responses(const study::Study& study, const AttemptOutput& output) {
  ReadResponses read;
  const Source source = find_object(output);
  if (source.object) {
    read.notes = notes_in(*source.object);
    read.measured = read_measured(study, *source.object);
  }
  bool said = false;
  for (const study::Response& response : study.responses) {
    if (!response.formula.empty()) continue;
    if (!response.pattern.empty()) {
      read_by_pattern(response, output, read);
    } else if (is_left_to_runner(response, source)) {
      read.quantities[response.name] =
          source.object
              ? not_there(response, members_in(*source.object), source.source_name, read.notes)
              : no_object(output);
    } else if (source.object) {
      read_from_object(response, members_in(*source.object), source.source_name, read);
    } else if (!std::exchange(said, true)) {
      read.problems.push_back(no_object(output));
    }
  }
  return read;
}

void check_patterns(const study::Study& study) {
  for (const study::Response& response : study.responses) {
    const RE2 pattern(response.pattern, pattern_options());
    if (!pattern.ok()) {
      throw RunError(
          fmt::format("response '{}': the pattern '{}' is not a valid regular expression: {}",
                      response.name, response.pattern, pattern.error()));
    }
  }
}

}  // namespace doetune::runner
