// The protocol between a workload and the runner. Any program can implement it.
//
// Request, in the environment: DOETUNE_REQUEST is the path of a JSON file
//   {"study", "plan", "run", "attempt", "replicate", "seed", "factors": {name: value},
//    "settings": {name: value}, "gpus": [id], "cpus": [id], "time_limit_s": x,
//    "warmup_s": x or null, "repeats": n, "precision": x or null, "min_time_s": x or null,
//    "max_time_s": x or null, "responses": [name], "server": {"host", "port", "names"} or absent}
// and DOETUNE_RESULT the path where the result must appear, by rename:
//   {"responses": {name: number}, "repeats": {name: [number]}, "series": {name: [number]},
//    "window": [x, x], "steady": true or false, "precision": {name: x}, "stopped_by": text,
//    "notes": {name: value}}
// `warmup_s` is the value of an input `warmup` that is neither a factor nor a setting. With
// `repeats` above 1 the workload takes that many measurements; each response is the mean of its
// repeats. With `precision` (relative half-width of a 95 % interval) or `max_time_s` the workload
// measures until it is steady and that precise, for at least `min_time_s` and at most `max_time_s`,
// and until there are enough values for the percentiles among `responses` (those requested).
//
// `window`: beginning and end of the measurement, in seconds of CLOCK_MONOTONIC. `steady` is
// omitted where unknown. `precision`: relative half-widths of 95 % intervals. A response that
// cannot be given is omitted, with a note of its name that gives the reason.
// Without DOETUNE_REQUEST, inputs come as `--name value` and the result is the last line on
// standard output. Messages go to standard error.
//
// Exit codes: 0 success, 1 failure, 2 an input is invalid, 77 the configuration does not fit the
// machine.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "workloads/infeasible.h"

namespace doetune::workloads {

using Json = nlohmann::ordered_json;

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInfeasible = 77;

/// An input is invalid: the message says which, what was expected, and the nearest valid name.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class InputKind { integer, continuous, categorical, text };

/// One thing that can be varied (a factor) or fixed (a setting).
struct Input {
  std::string name;
  InputKind kind;
  Json default_value;  // null: chosen at run time, see the description
  std::string description;
  std::string unit = {};
  double low = 0;  // integer and continuous: both inclusive
  double high = 0;
  std::vector<std::string> levels = {};  // categorical
  int multiple_of = 1;                   // integer
  std::vector<std::string> words = {};   // accepted instead of a number
};

struct Response {
  std::string name;
  std::string unit;
  std::string description;
};

/// Checked values of all inputs of a workload: factors over settings over defaults.
class Inputs {
 public:
  explicit Inputs(std::map<std::string, Json> values) : values_(std::move(values)) {}

  bool has(const std::string& name) const { return !values_.at(name).is_null(); }
  /// Whether the value is one of the input's words, or text.
  bool is_word(const std::string& name) const { return values_.at(name).is_string(); }
  double number(const std::string& name) const { return values_.at(name).get<double>(); }
  int integer(const std::string& name) const { return values_.at(name).get<int>(); }
  std::string text(const std::string& name) const { return values_.at(name).get<std::string>(); }

  /// All values, for processes that compare what they were asked.
  Json json() const { return values_; }

 private:
  std::map<std::string, Json> values_;
};

/// Where the server listens that was started for a run.
struct ServerAddress {
  std::string host;
  int port = 0;
};

/// A workload's task.
struct Request {
  Inputs inputs;
  std::uint64_t seed = 1;
  std::vector<std::string> gpus = {};       // empty: none assigned
  std::vector<int> cpus = {};               // empty: all those that the process may use
  std::optional<double> time_limit_s = {};  // of the whole run, start-up included
  int repeats = 1;                          // measurements to take in the run
  std::optional<double> precision = {};     // wanted: relative half-width of a 95 % interval
  std::optional<double> min_time_s = {};    // of each measurement
  std::optional<double> max_time_s = {};
  std::vector<std::string> responses = {};  // those requested
  std::optional<ServerAddress> server = {};
};

struct Result {
  std::map<std::string, double> responses;
  std::map<std::string, std::vector<double>> repeats = {};  // single values, where more than one
  std::map<std::string, std::vector<double>> series = {};
  std::optional<std::pair<double, double>> window = {};  // seconds of Clock
  std::optional<bool> steady = {};
  std::map<std::string, double> precision = {};  // relative half-widths of 95 % intervals
  std::string stopped_by = {};
  Json notes = Json::object();
  bool silent = false;  // another process of the same run reports the result
};

struct Workload {
  std::string name;
  std::string summary;
  std::string example;  // a command line for --help
  std::vector<Input> inputs;
  std::vector<Response> responses;
  std::function<Result(const Request&)> run;
};

/// The range of an input's values, for messages.
std::string range_of(const Input& input);

/// Checks names, types, ranges and levels of `factors` and `settings` (objects) and fills in
/// defaults. Throws UsageError.
Inputs check_inputs(const Workload& workload, const Json& factors, const Json& settings);

/// Reads a request file's contents. Throws UsageError.
Request parse_request(const Workload& workload, const Json& request);

/// `--name value` or `--name=value` for inputs, and --seed. Throws UsageError.
Request parse_command_line(const Workload& workload, const std::vector<std::string>& arguments);

/// The answer to --describe.
Json describe(const Workload& workload);

/// The result as JSON. Throws std::logic_error if a declared response is not finite, or missing
/// without a note of its name that says why.
Json to_json(const Workload& workload, const Result& result);

/// The main function of a workload's program.
int run_program(const Workload& workload, int argc, char** argv);

}  // namespace doetune::workloads
