// The workload `serving-load`: requests to an inference server, as a number of clients that wait
// for their answers or as arrivals that wait for nothing, and the times and rates of its answers.
#include "workloads/workloads.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "base/clock.h"
#include "workloads/serving/load.h"
#include "workloads/serving/serving_result.h"
#include "workloads/serving/trial.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

constexpr double kMaxLimit_s = 86400;

Input limit_input(const char* name, const char* description) {
  return {name, InputKind::continuous, nullptr, description, "s", 0, kMaxLimit_s};
}

std::vector<Input> serving_inputs() {
  using enum InputKind;
  std::vector<std::string> api_names;
  for (const Api& api : apis()) api_names.emplace_back(api.name);
  return {
      categories("api", std::move(api_names), "protocol of the server"),
      {"url", text, nullptr,
       "address of the server, http://HOST:PORT; default: host and port, else the server that "
       "doetune started, else DOETUNE_HOST and DOETUNE_PORT"},
      {"host", text, nullptr, "name or number of the server's machine, with port instead of url"},
      {"port", integer, nullptr, "TCP port of the server, with host instead of url", "", 1, 65535},
      {"path", text, nullptr, "path below the address; default: that of the protocol"},
      {"model", text, nullptr,
       "name of the model; default: the first that the server lists (openai-chat, "
       "openai-completions)"},
      {"api_key_variable", text, nullptr,
       "name of the environment variable that holds the key to the server; the key is never "
       "recorded"},
      {"concurrency", integer, 8, "requests always in flight, unless request_rate is given", "", 1,
       100000},
      {"request_rate", continuous, nullptr,
       "mean rate of random (Poisson) arrivals, sent whether or not earlier requests are answered",
       "requests/s", 0.001, 1e6},
      {"max_in_flight", integer, 1024,
       "with request_rate: maximum number of unanswered requests; further ones are errors", "", 1,
       100000},
      {"prompt_tokens", text, "128",
       "length of a prompt in short words, about a token each: 128, 64..256 or "
       "lognormal:MEDIAN:SIGMA[:MAX]"},
      {"output_tokens", text, "64", "requested length of an answer, in the same notation"},
      {"request_file", text, nullptr,
       "a file of requests, one JSON object a line, sent in order, again and again"},
      {"body", text, nullptr,
       "JSON that is merged into each request, such as {\"ignore_eos\": true}; null removes a "
       "member; http: the body of a POST"},
      {"request_timeout", continuous, 60.0, "longest time from sending a request to its end", "s",
       0.01, kMaxLimit_s},
      limit_input("limit_time_to_first_token", "limit for goodput; default: none"),
      limit_input("limit_inter_token_latency", "limit for goodput; default: none"),
      limit_input("limit_latency", "limit for goodput; default: none"),
      {"max_errors", continuous, 0.1, "fraction of failed requests above which the run fails", "",
       0, 1},
      {"threads", integer, 1, "threads that send requests", "", 1, 64},
      {"warmup", continuous, 1.0, "minimum warm-up time before the measurement", "s", 0, 3600},
      {"duration", continuous, 10.0, "minimum measurement time", "s", 0, 86400},
      {"requests", integer, 20, "minimum number of measured requests", "", 1, 100000000},
  };
}

std::optional<double> optional_number(const Inputs& in, const char* name) {
  return in.has(name) ? std::optional(in.number(name)) : std::nullopt;
}

std::string with_model(std::string_view path, const std::string& model) {
  constexpr std::string_view kMark = "{model}";
  std::string text(path);
  const std::size_t at = text.find(kMark);
  return at == std::string::npos ? text : text.replace(at, kMark.size(), model);
}

void check_model(const Api& api, const Inputs& in) {
  if (!in.has("model") && api.path.find("{model}") != std::string_view::npos)
    throw UsageError(fmt::format("api = {} needs the setting `model`", api.name));
}

/// What the server says of its models, where the protocol has that and it is needed.
Json about_models(const Api& api, const Inputs& in, const std::string& address) {
  const bool lists = api.models_path == "/v1/models";
  if (api.models_path.empty() || (lists && in.has("model"))) return nullptr;
  const std::string model = in.has("model") ? in.text("model") : "";
  const std::string page = fetch(target_of(in, address + with_model(api.models_path, model)));
  const Json json = Json::parse(page, nullptr, false);
  if (!json.is_object())
    throw std::runtime_error(
        fmt::format("{}{}: the answer is not a JSON object", address, api.models_path));
  return json;
}

std::string model_of(const Inputs& in, const Json& about) {
  if (in.has("model")) return in.text("model");
  return about.is_null() ? "" : first_model(about);
}

Json patch_of(const Inputs& in) {
  if (!in.has("body")) return Json::object();
  Json patch = Json::parse(in.text("body"), nullptr, false);
  if (!patch.is_object())
    throw UsageError("body must be a JSON object, such as {\"ignore_eos\": true}");
  return patch;
}

Requests requests_of(const Api& api, const Request& request, const std::string& model,
                     const Json& about) {
  const Inputs& in = request.inputs;
  const Lengths prompt = Lengths::parse("prompt_tokens", in.text("prompt_tokens"));
  const Lengths output = Lengths::parse("output_tokens", in.text("output_tokens"));
  const bool plain = api.id == ApiName::http;
  Json base = request_template(api, model, about, request.seed);
  if (in.has("request_file"))
    return Requests(
        read_requests(in.text("request_file"), base, plain ? Json::object() : patch_of(in)));
  if (plain) return Requests(in.has("body") ? in.text("body") : "", prompt, output, request.seed);
  base.merge_patch(patch_of(in));
  return Requests(base.dump(), prompt, output, request.seed);
}

double processor_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Notes how busy the generator was: a load that it cannot send says nothing about the server.
void note_busy(double busy, Result& result) {
  constexpr double kTooBusy = 0.8;
  result.notes["generator_busy_share"] = busy;
  if (busy > kTooBusy)
    result.notes["generator"] = fmt::format(
        "the load generator itself was busy for {:.0f} % of the time: the server may be faster "
        "than measured; raise threads",
        100 * busy);
}

void check_errors(const std::vector<LoadMeasurement>& measured, double max_errors,
                  const FaultCounts& faults) {
  const double share = error_share(measured);
  if (share > max_errors)
    throw std::runtime_error(
        fmt::format("{:.1f} % of the requests failed, more than max_errors = {:g} %: {}",
                    100 * share, 100 * max_errors, faults.sentences()));
}

LoadPlan plan_of(const Request& request, const Api& api, const std::string& url,
                 const Requests& requests) {
  const Inputs& in = request.inputs;
  LoadPlan plan{&api, target_of(in, url), &requests};
  plan.concurrency = in.integer("concurrency");
  plan.rate = optional_number(in, "request_rate");
  plan.max_in_flight = in.integer("max_in_flight");
  plan.seed = request.seed;
  plan.threads = std::min(in.integer("threads"), plan.rate ? plan.max_in_flight : plan.concurrency);
  return plan;
}

Result run_serving_load(const Request& request) {
  const Clock::time_point start = Clock::now();
  std::signal(SIGPIPE, SIG_IGN);  // a connection that the server closes is no reason to die
  const Inputs& in = request.inputs;
  const Api& api = api_named(in.text("api"));
  const std::string address = server_address(request);
  check_model(api, in);
  const Json about = about_models(api, in, address);
  const std::string model = model_of(in, about);
  const Requests requests = requests_of(api, request, model, about);
  const std::string path = in.has("path") ? in.text("path") : with_model(api.path, model);
  LoadPlan plan = plan_of(request, api, address + path, requests);

  const Outcome first = try_server(plan);
  plan.patience_s += 10 * (first.end_s - first.begin_s);
  measurement::StoppingRule rule = stopping_rule(request, in.integer("requests"));
  rule.quantiles = time_quantiles(request.responses);
  rule.deadline_s = deadline_s(request, start);
  const double began_s = monotonic_s(), processor_began_s = processor_s();
  Load load(plan);
  const auto measured = measure_after_warmup(load, rule, in.number("warmup"), request.repeats);
  const double busy =
      (processor_s() - processor_began_s) / (monotonic_s() - began_s) / plan.threads;
  const FaultCounts faults = load.faults();
  check_errors(measured, in.number("max_errors"), faults);

  const ServiceLimits limits{optional_number(in, "limit_time_to_first_token"),
                             optional_number(in, "limit_inter_token_latency"),
                             optional_number(in, "limit_latency")};
  Result result = serving_result(measured, limits, request.repeats);
  note_busy(busy, result);
  result.notes["server"] = plan.target.url;
  if (!model.empty()) result.notes["model"] = model;
  if (const std::string failures = faults.sentences(); !failures.empty()) {
    result.notes["failed_requests"] = failures;
    std::cerr << failures << std::endl;
  }
  return result;
}

}  // namespace

const Workload& serving_load_workload() {
  static const Workload workload{
      "serving-load",
      "requests to an inference server: latencies, rates and goodput of its answers",
      "serving-load --url http://127.0.0.1:8000 --concurrency 16 --prompt_tokens 64..512",
      serving_inputs(),
      serving_responses(),
      run_serving_load};
  return workload;
}

}  // namespace doetune::workloads
