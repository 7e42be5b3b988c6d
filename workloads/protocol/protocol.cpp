#include "workloads/protocol/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>

#include "base/files.h"

namespace doetune::workloads {
namespace {

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
  text += fmt::format("  --{:<20} {}\n      {}\n\nResponses:\n", "seed", "integer (default 1)",
                      "seed of all random numbers");
  for (const Response& response : workload.responses)
    text += fmt::format("  {:<22} {:<10} {}\n", response.name, response.unit, response.description);
  text += fmt::format("\nOther: --describe prints inputs and responses as JSON.\nExample: {}\n",
                      workload.example);
  return text;
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
    const Result result = workload.run(request);
    if (!result.silent) replace_file(result_path, to_json(workload, result).dump(2) + '\n');
  } else {
    const Request request = parse_command_line(workload, arguments);
    const Result result = workload.run(request);
    if (!result.silent) std::cout << to_json(workload, result).dump() << std::endl;
  }
}

}  // namespace

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
    if (!input.words.empty()) each["words"] = input.words;
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
    const bool missing = found == result.responses.end();
    if (missing ? !result.notes.contains(response.name) : !std::isfinite(found->second))
      throw std::logic_error("the response " + response.name + " is missing or not finite");
  }
  Json json = {{"responses", result.responses}};
  if (!result.repeats.empty()) json["repeats"] = result.repeats;
  if (!result.series.empty()) json["series"] = result.series;
  if (result.window) json["window"] = {result.window->first, result.window->second};
  if (result.steady) json["steady"] = *result.steady;
  if (!result.precision.empty()) json["precision"] = result.precision;
  if (!result.stopped_by.empty()) json["stopped_by"] = result.stopped_by;
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
    if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
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
