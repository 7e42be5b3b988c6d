#include "workloads/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <numeric>

namespace doetune::workloads {
namespace {

constexpr int kMostRepeats = 1'000'000;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({substituted, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

std::string nearest(std::string_view wrong, const std::vector<std::string>& names) {
  return *std::ranges::min_element(
      names, {}, [&](const std::string& name) { return edit_distance(wrong, name); });
}

const Input& find_input(const Workload& workload, const std::string& name) {
  std::vector<std::string> names;
  for (const Input& input : workload.inputs) {
    if (input.name == name) return input;
    names.push_back(input.name);
  }
  throw UsageError(fmt::format("{} has no input '{}'; did you mean '{}'?", workload.name, name,
                               nearest(name, names)));
}

std::string range_of(const Input& input) {
  const std::string unit = input.unit.empty() ? "" : " " + input.unit;
  const std::string step =
      input.multiple_of > 1 ? fmt::format(", a multiple of {}", input.multiple_of) : "";
  return fmt::format("{:g} to {:g}{}{}", input.low, input.high, unit, step);
}

/// A number where a number was given, also as text (the command line gives everything as text).
std::optional<double> as_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Json check_number(const Input& input, const Json& value) {
  const auto number = as_number(value);
  const bool whole = number && *number == std::floor(*number);
  if (!number || (input.kind == InputKind::integer && !whole))
    throw UsageError(fmt::format("{} must be {} ({}), not {}", input.name,
                                 input.kind == InputKind::integer ? "a whole number" : "a number",
                                 range_of(input), value.dump()));
  if (!(*number >= input.low && *number <= input.high))
    throw UsageError(fmt::format("{} = {:g} is outside {}", input.name, *number, range_of(input)));
  if (input.kind == InputKind::continuous) return *number;
  const auto integer = static_cast<std::int64_t>(*number);
  if (integer % input.multiple_of != 0)
    throw UsageError(fmt::format("{} = {} is not in {}", input.name, integer, range_of(input)));
  return integer;
}

Json check_value(const Input& input, const Json& value) {
  if (input.kind == InputKind::integer || input.kind == InputKind::continuous)
    return check_number(input, value);
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (input.kind == InputKind::categorical &&
      std::ranges::find(input.levels, text) == input.levels.end())
    throw UsageError(fmt::format("{} is one of {}, not '{}'; did you mean '{}'?", input.name,
                                 fmt::join(input.levels, ", "), text, nearest(text, input.levels)));
  return text;
}

std::string_view kind_name(InputKind kind) {
  switch (kind) {
    case InputKind::integer:
      return "integer";
    case InputKind::continuous:
      return "continuous";
    case InputKind::categorical:
      return "categorical";
    case InputKind::text:
      return "text";
  }
  return "";
}

std::string help(const Workload& workload) {
  std::string text = fmt::format("{}: {}\n\nInputs (each a factor or a fixed setting):\n",
                                 workload.name, workload.summary);
  for (const Input& input : workload.inputs) {
    const std::string values = input.kind == InputKind::categorical
                                   ? fmt::format("{}", fmt::join(input.levels, " | "))
                               : input.kind == InputKind::text ? "text"
                                                               : range_of(input);
    const std::string preset = input.default_value.is_null() ? ""
                               : input.default_value.is_string()
                                   ? input.default_value.get<std::string>()
                                   : input.default_value.dump();
    text +=
        fmt::format("  --{:<20} {}{}\n      {}\n", input.name, values,
                    preset.empty() ? "" : fmt::format(" (default {})", preset), input.description);
  }
  text += fmt::format("  --{:<20} {}\n      {}\n\nResponses:\n", "seed", "whole number (default 1)",
                      "fixes everything that is drawn at random");
  for (const Response& response : workload.responses)
    text += fmt::format("  {:<22} {:<10} {}\n", response.name, response.unit, response.description);
  text += fmt::format("\nOther: --describe prints inputs and responses as JSON.\nExample: {}\n",
                      workload.example);
  return text;
}

void write_result(const std::filesystem::path& path, const Json& result) {
  const std::filesystem::path partial = path.string() + ".partial";
  {
    std::ofstream out(partial);
    out << result.dump(2) << '\n';
    out.flush();
    if (!out) throw std::runtime_error("cannot write " + partial.string());
  }
  std::filesystem::rename(partial, path);
}

Json read_json(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw UsageError("cannot read the request file " + path);
  try {
    return Json::parse(in);
  } catch (const Json::exception& error) {
    throw UsageError("the request file " + path + " is not JSON: " + error.what());
  }
}

void answer(const Workload& workload, const std::vector<std::string>& arguments) {
  if (const char* request_path = std::getenv("DOETUNE_REQUEST")) {
    const char* result_path = std::getenv("DOETUNE_RESULT");
    if (result_path == nullptr)
      throw UsageError("DOETUNE_REQUEST is set, but DOETUNE_RESULT is not");
    const Request request = parse_request(workload, read_json(request_path));
    write_result(result_path, to_json(workload, workload.run(request)));
  } else {
    const Request request = parse_command_line(workload, arguments);
    std::cout << to_json(workload, workload.run(request)).dump() << std::endl;
  }
}

/// The settings of a request, with the study's `run.warmup` as the input of that name: a factor or
/// setting comes before it, and a workload without such an input has no warm-up to set.
Json settings_of(const Workload& workload, const Json& request) {
  Json settings = request.value("settings", Json::object());
  const Json warmup = request.value("warmup_s", Json());
  const bool has_warmup =
      std::ranges::find(workload.inputs, "warmup", &Input::name) != workload.inputs.end();
  if (!warmup.is_null() && has_warmup && !settings.contains("warmup")) settings["warmup"] = warmup;
  return settings;
}

int repeats_of(const Json& request) {
  const Json repeats = request.value("repeats", Json(1));
  if (!repeats.is_number_integer() || repeats < 1 || repeats > kMostRepeats)
    throw UsageError(fmt::format("repeats must be a whole number from 1 to {}, not {}",
                                 kMostRepeats, repeats.dump()));
  return repeats.get<int>();
}

}  // namespace

Inputs check_inputs(const Workload& workload, const Json& factors, const Json& settings) {
  std::map<std::string, Json> values;
  for (const Input& input : workload.inputs) values[input.name] = input.default_value;
  for (const Json* given : {&settings, &factors}) {
    if (!given->is_object()) throw UsageError("factors and settings are objects: {name: value}");
    for (const auto& [name, value] : given->items())
      values[name] = check_value(find_input(workload, name), value);
  }
  return Inputs(std::move(values));
}

Request parse_request(const Workload& workload, const Json& request) {
  if (!request.is_object()) throw UsageError("the request is not a JSON object");
  const Json none = Json::object();
  try {
    Request parsed{
        check_inputs(workload, request.value("factors", none), settings_of(workload, request))};
    parsed.seed = request.value("seed", parsed.seed);
    parsed.gpus = request.value("gpus", parsed.gpus);
    parsed.cpus = request.value("cpus", parsed.cpus);
    if (request.contains("time_limit_s") && !request["time_limit_s"].is_null())
      parsed.time_limit_s = request["time_limit_s"].get<double>();
    parsed.repeats = repeats_of(request);
    return parsed;
  } catch (const Json::exception& error) {
    throw UsageError(std::string("the request does not follow the protocol: ") + error.what());
  }
}

Request parse_command_line(const Workload& workload, const std::vector<std::string>& arguments) {
  Json given = Json::object();
  std::uint64_t seed = 1;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--"))
      throw UsageError(fmt::format("expected --name value, not '{}'; see --help", argument));
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (name != "seed") find_input(workload, name);
    if (equals == std::string::npos && i + 1 == arguments.size())
      throw UsageError("--" + name + " needs a value");
    const std::string value =
        equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    if (name != "seed") {
      given[name] = value;
      continue;
    }
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seed);
    if (error != std::errc() || end != value.data() + value.size())
      throw UsageError("--seed must be a whole number, not '" + value + "'");
  }
  Request request{check_inputs(workload, given, Json::object())};
  request.seed = seed;
  return request;
}

Json describe(const Workload& workload) {
  Json factors = Json::array();
  for (const Input& input : workload.inputs) {
    Json each = {{"name", input.name}, {"kind", kind_name(input.kind)}};
    if (input.kind == InputKind::integer || input.kind == InputKind::continuous) {
      const bool whole = input.kind == InputKind::integer;
      each["low"] = whole ? Json(static_cast<std::int64_t>(input.low)) : Json(input.low);
      each["high"] = whole ? Json(static_cast<std::int64_t>(input.high)) : Json(input.high);
    }
    if (input.multiple_of > 1) each["multiple_of"] = input.multiple_of;
    if (!input.levels.empty()) each["levels"] = input.levels;
    each["unit"] = input.unit;
    each["default"] = input.default_value;
    each["description"] = input.description;
    factors.push_back(std::move(each));
  }
  Json responses = Json::array();
  for (const Response& response : workload.responses)
    responses.push_back(
        {{"name", response.name}, {"unit", response.unit}, {"description", response.description}});
  return {{"name", workload.name},
          {"summary", workload.summary},
          {"factors", factors},
          {"responses", responses}};
}

Json to_json(const Workload& workload, const Result& result) {
  for (const Response& response : workload.responses) {
    const auto found = result.responses.find(response.name);
    if (found == result.responses.end() || !std::isfinite(found->second))
      throw std::logic_error("the response " + response.name + " is missing or not finite");
  }
  Json json = {{"responses", result.responses}};
  if (!result.repeats.empty()) json["repeats"] = result.repeats;
  if (!result.series.empty()) json["series"] = result.series;
  json["notes"] = result.notes;
  return json;
}

int run_program(const Workload& workload, int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto failed = [&](const char* message, int code) {
    std::cerr << workload.name << ": " << message << std::endl;
    return code;
  };
  try {
    if (std::ranges::find(arguments, "--help") != arguments.end()) {
      std::cout << help(workload);
    } else if (std::ranges::find(arguments, "--describe") != arguments.end()) {
      std::cout << describe(workload).dump(2) << '\n';
    } else {
      answer(workload, arguments);
    }
    return 0;
  } catch (const UsageError& error) {
    return failed(error.what(), kExitUsage);
  } catch (const Infeasible& error) {
    return failed(error.what(), kExitInfeasible);
  } catch (const std::bad_alloc&) {
    return failed("not enough memory for these settings", kExitInfeasible);
  } catch (const std::exception& error) {
    return failed(error.what(), kExitFailed);
  }
}

}  // namespace doetune::workloads
