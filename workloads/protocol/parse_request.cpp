#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest_name.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

constexpr int kMaxRepeats = 1'000'000;
constexpr double kMaxTime_s = 1e9;  ///< 30 years

const Input& find_input(const Workload& workload, const std::string& name) {
  std::vector<std::string> names;
  for (const Input& input : workload.inputs) {
    if (input.name == name) return input;
    names.push_back(input.name);
  }
  const std::string meant = did_you_mean(name, names);
  throw UsageError(fmt::format("{} has no input '{}'{}", workload.name, name,
                               meant.empty() ? "; --help lists those it has" : meant));
}

/// A number, also given as text (as on the command line).
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
                                 input.kind == InputKind::integer ? "an integer" : "a number",
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
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const bool number = input.kind == InputKind::integer || input.kind == InputKind::continuous;
  if (number && std::ranges::find(input.words, text) == input.words.end())
    return check_number(input, value);
  if (input.kind == InputKind::categorical &&
      std::ranges::find(input.levels, text) == input.levels.end())
    throw UsageError(fmt::format("{} is one of {}, not '{}'{}", input.name,
                                 fmt::join(input.levels, ", "), text,
                                 did_you_mean(text, input.levels)));
  return text;
}

/// The settings of a request, with the study's `run.warmup` as the input of that name unless a
/// factor or setting sets it; workloads without such an input ignore it.
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
  if (!repeats.is_number_integer() || repeats < 1 || repeats > kMaxRepeats)
    throw UsageError(fmt::format("repeats must be an integer from 1 to {}, not {}", kMaxRepeats,
                                 repeats.dump()));
  return repeats.get<int>();
}

/// An optional number in 0 .. `maximum`.
std::optional<double> number_up_to(const Json& request, const char* name, double maximum) {
  const Json value = request.value(name, Json());
  if (value.is_null()) return std::nullopt;
  if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= maximum))
    throw UsageError(
        fmt::format("{} must be a number from 0 to {:g}, not {}", name, maximum, value.dump()));
  return value.get<double>();
}

std::optional<ServerAddress> server_of(const Json& request) {
  const Json server = request.value("server", Json());
  if (server.is_null()) return std::nullopt;
  return ServerAddress{server.at("host").get<std::string>(), server.at("port").get<int>()};
}

/// Factors or settings without those of the server that the workload does not have.
Json of_workload(const Workload& workload, Json values, const Json& request) {
  const Json server = request.value("server", Json());
  if (!server.is_object() || !values.is_object()) return values;
  for (const auto& name : server.value("names", std::vector<std::string>())) {
    const bool known =
        std::ranges::find(workload.inputs, name, &Input::name) != workload.inputs.end();
    if (!known) values.erase(name);
  }
  return values;
}

}  // namespace

std::string range_of(const Input& input) {
  const std::string unit = input.unit.empty() ? "" : " " + input.unit;
  const std::string step =
      input.multiple_of > 1 ? fmt::format(", a multiple of {}", input.multiple_of) : "";
  const std::string words =
      input.words.empty() ? "" : fmt::format(", or {}", fmt::join(input.words, ", "));
  return fmt::format("{:g} to {:g}{}{}{}", input.low, input.high, unit, step, words);
}

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
    Request parsed{check_inputs(workload,
                                of_workload(workload, request.value("factors", none), request),
                                of_workload(workload, settings_of(workload, request), request))};
    parsed.seed = request.value("seed", parsed.seed);
    parsed.gpus = request.value("gpus", parsed.gpus);
    parsed.cpus = request.value("cpus", parsed.cpus);
    if (request.contains("time_limit_s") && !request["time_limit_s"].is_null())
      parsed.time_limit_s = request["time_limit_s"].get<double>();
    parsed.repeats = repeats_of(request);
    parsed.precision = number_up_to(request, "precision", 1);
    parsed.min_time_s = number_up_to(request, "min_time_s", kMaxTime_s);
    parsed.max_time_s = number_up_to(request, "max_time_s", kMaxTime_s);
    parsed.responses = request.value("responses", parsed.responses);
    parsed.server = server_of(request);
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
      throw UsageError("--seed must be an integer, not '" + value + "'");
  }
  Request request{check_inputs(workload, given, Json::object())};
  request.seed = seed;
  return request;
}

}  // namespace doetune::workloads
