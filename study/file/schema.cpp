#include "study/file/schema.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "doe/design.h"
#include "doe/response.h"

namespace doetune::study {
namespace {

using Kind = Schema::Kind;
using nlohmann::ordered_json;

Schema text() { return {Kind::kText, {}, {}, {}}; }
Schema scalar() { return {Kind::kScalar, {}, {}, {}}; }
Schema boolean() { return {Kind::kBoolean, {}, {}, {}}; }
Schema duration() { return {Kind::kDuration, {}, {}, {}}; }
Schema words(std::vector<std::string> allowed) { return {Kind::kEnum, {}, {}, std::move(allowed)}; }
template <typename Choice>
Schema words_of() {
  return words(doe::words_of<Choice>());
}
Schema list(Schema item) { return {Kind::kList, {}, {std::move(item)}, {}}; }
Schema object(std::vector<SchemaKey> keys) { return {Kind::kObject, std::move(keys), {}, {}}; }
Schema one_of(std::vector<Schema> alternatives) {
  return {Kind::kOneOf, {}, std::move(alternatives), {}};
}

Schema map_of(Schema value, bool identifier_names = true) {
  Schema schema{Kind::kMap, {}, {std::move(value)}, {}};
  schema.identifier_names = identifier_names;
  return schema;
}

Schema number(double minimum = -std::numeric_limits<double>::infinity()) {
  Schema schema{Kind::kNumber, {}, {}, {}};
  schema.minimum = minimum;
  return schema;
}

Schema number_in(double minimum, double maximum) {
  Schema schema = number(minimum);
  schema.maximum = maximum;
  return schema;
}

Schema integer(double minimum, double maximum) {
  Schema schema{Kind::kInteger, {}, {}, {}};
  schema.minimum = minimum;
  schema.maximum = maximum;
  return schema;
}

Schema factor_schema() {
  return object({
      {"low", number(), "lowest setting, in natural units"},
      {"high", number(), "highest setting, in natural units"},
      {"levels", list(scalar()), "the allowed settings; text makes the factor categorical"},
      {"type", words({"continuous", "integer", "categorical"}),
       "type of the factor (continuous, or as the levels imply)"},
      {"scale", words({"linear", "log2", "log10", "log"}),
       "the scale on which the factor is coded; log is log10"},
      {"step", number(), "spacing of the usable settings of a continuous factor"},
      {"unit", text(), "unit of the settings"},
      {"baseline", scalar(), "the current setting, used as the baseline of comparisons"},
      {"hard_to_change", boolean(), "whether changing it between runs is expensive"},
      {"search", words({"largest"}),
       "a numeric factor that the design does not vary: each run searches for the largest setting "
       "that meets `limits`, and that setting is the response of the same name"},
      {"limits", map_of(text()),
       "search: limits on responses, such as {time_to_first_token_p90: \"<= 0.2\"}"},
  });
}

Schema fit_schema() {
  return object({
      {"surface", words_of<doe::SurfaceType>(),
       "what is fitted (polynomial): the model's terms, whatever predicts best, or a parametric "
       "model"},
      {"factor", text(), "the numeric factor of a parametric model"},
      {"by", text(), "a factor with separate parameters of the parametric model for each level"},
      {"selection", words_of<doe::SelectionMethod>(),
       "selection of the model's terms by AICc (none)"},
      {"loss", words_of<doe::Loss>(),
       "loss function; huber and tukey are robust to outliers (squares)"},
      {"variance", words_of<doe::VarianceType>(),
       "variance of single runs; modelled: estimated from replicated runs (constant)"},
      {"block", words_of<doe::BlockType>(),
       "blocks of runs with a common effect: those of the plan, or one per host, set of GPUs, or "
       "UTC day"},
  });
}

Schema response_schema() {
  return object({
      {"unit", text(), "unit of the response"},
      {"goal", words_of<doe::GoalType>(), "what the response should be"},
      {"low", number(), "within, at_least: the limit; maximize: desirability is 0 at or below it"},
      {"high", number(), "within, at_most: the limit; minimize: desirability is 0 at or above it"},
      {"target", number(), "the target value"},
      {"confidence", number_in(0, 0.9999),
       "within, at_most, at_least: the probability with which the limit is to be met, as far as "
       "the runs allow it (0.9)"},
      {"of", words_of<doe::LimitOf>(),
       "what meets the limit with this confidence: a further run, or the mean of many (run)"},
      {"capacity", number(0),
       "for a response that measures the use of memory or another resource: the amount available; "
       "runs that need more are infeasible"},
      {"weight", number(0), "exponent of the desirability ramp (1)"},
      {"importance", number(0), "weight of this response relative to the others (1)"},
      {"transform", words_of<doe::TransformType>(),
       "scale of the fit; logit: for fractions; box-cox: the power that suits the runs best"},
      {"fit", fit_schema(), "how the surface is fitted, if not as set for the study"},
      {"formula", text(), "an expression of other responses and factors, instead of a measurement"},
      {"pattern", text(),
       "regular expression whose first group is the value in the program's output"},
  });
}

Schema retries_schema() {
  return one_of({scalar(), object({
                               {"failed", integer(0, 100), "retries after a failure (1)"},
                               {"timed_out", integer(0, 100), "retries after the time limit (1)"},
                               {"lost", integer(0, 100), "retries after the machine was lost (3)"},
                           })});
}

Schema stage_schema() {
  return object({
      {"to", text(), "absolute path of a folder on the machines of the runs, created if missing",
       true},
      {"files", list(text()),
       "files and folders, relative to the study file's folder, that are copied to each machine"},
  });
}

Schema slurm_schema() {
  return object({
      {"partition", text(), "partition that jobs are submitted to (Slurm's default)"},
      {"account", text(), "account that is charged (the user's default)"},
      {"gres", text(), "generic resources of a job, instead of gpu:N for gpus_per_run"},
      {"time", duration(), "time limit of a job (timeout, plus time to end)"},
      {"options", list(text()), "further arguments of sbatch"},
      {"nodes", integer(1, 100000), "nodes of a job; slurm-pilot: of the shared allocation (1)"},
      {"queued", integer(1, 100000), "jobs in the queue at once (100)"},
      {"poll", duration(), "interval between queries of the queue (5 s)"},
      {"stage", stage_schema(), "slurm-pilot: for nodes that do not share the study directory"},
      {"program", text(), "path of doetune-attempt on the nodes (the same as on this machine)"},
  });
}

Schema ssh_schema() {
  const Schema host = object({
      {"name", text(), "host name for the OpenSSH client", true},
      {"jobs", integer(1, 4096), "concurrent runs (1)"},
      {"gpus", list(text()), "GPUs for these runs, e.g. [0, 1]"},
  });
  return object({
      {"hosts", list(one_of({text(), host})),
       "where runs are executed; without `stage` the study directory must be at the same path",
       true},
      {"stage", stage_schema(), "for hosts that do not share the study directory"},
      {"options", list(text()), "options of the OpenSSH client, such as -p, 2222"},
      {"program", text(), "path of doetune-attempt on the hosts (the same as on this machine)"},
  });
}

Schema spark_schema() {
  return object({
      {"master", text(),
       "master of spark-submit, such as yarn or spark://HOST:7077 (as Spark is configured)"},
      {"options", list(text()), "further arguments of spark-submit, such as --num-executors, 4"},
      {"submit", text(), "path of spark-submit (from PATH)"},
      {"program", text(), "path of doetune-attempt on the executors' machines (the same as here)"},
  });
}

Schema end_early_schema() {
  return object({
      {"confidence", number_in(0.5, 0.9999),
       "probability of being worse at which a run is ended (0.99)"},
      {"runs", integer(3, 10000), "completed runs with progress before any is ended (5)"},
      {"after", number(), "step of the progress before which no run is ended (none)"},
  });
}

Schema kubernetes_schema() {
  const Schema volume = object({
      {"claim", text(), "name of a PersistentVolumeClaim"},
      {"host_path", text(), "directory that has this path on every node"},
      {"memory", scalar(), "size of a file system in memory, such as 8 GiB for /dev/shm"},
      {"mount", text(), "absolute path in the pods (host_path)"},
      {"read_only", boolean(), "whether runs may only read it (false)"},
  });
  return object({
      {"image", text(), "container image with doetune-attempt and the programs of the runs", true},
      {"volumes", list(volume),
       "what is mounted in the pods; without the study directory, results come by the pods' logs"},
      {"namespace", text(), "namespace of the Jobs (as kubectl is configured)"},
      {"options", list(text()), "further arguments of kubectl, such as --context, NAME"},
      {"resources", map_of(scalar(), false),
       "resources of a pod, such as amd.com/gpu: 1, instead of nvidia.com/gpu for gpus_per_run"},
      {"node_selector", map_of(scalar(), false), "labels that a node must have"},
      {"tolerations", list(text()), "keys of taints that the pods tolerate"},
      {"secrets", list(text()), "Secrets that are environment variables of the runs"},
      {"pull_secrets", list(text()), "Secrets with which the image is pulled"},
      {"service_account", text(), "service account of the pods (none of its credentials)"},
      {"priority_class", text(), "priority class of the pods"},
      {"program", text(), "path of doetune-attempt in the image (from its PATH)"},
      {"queued", integer(1, 100000), "Jobs at once (100)"},
      {"poll", duration(), "interval between queries of the Jobs (5 s)"},
  });
}

Schema run_schema() {
  return object({
      {"launcher", text(),
       "where runs are executed: kubernetes, local, slurm, slurm-pilot, spark, ssh (local)"},
      {"jobs", integer(1, 4096), "concurrent runs (1; on a cluster, what the launcher allows)"},
      {"timeout", duration(), "time limit of one attempt (10 min)"},
      {"stop_grace", duration(), "time between the request to stop and the forced stop (5 s)"},
      {"hang_after", duration(),
       "time without output or activity after which an attempt is stopped"},
      {"retries", retries_schema(),
       "retries of failed and timed-out runs, or a number for each kind ({failed: 1, timed_out: 1, "
       "lost: 3})"},
      {"backoff", duration(), "delay before a retry, doubled each time (none)"},
      {"on_failure", words({"first-three", "continue", "stop"}),
       "stop if the first three runs fail alike, never, or at the first run that failed and has no "
       "retries left (first-three)"},
      {"end_early", one_of({boolean(), end_early_schema()}),
       "whether a search ends runs that their progress shows to be clearly worse than the best "
       "(false)"},
      {"outliers", words({"flag", "rerun"}),
       "outliers are reported, or measured again as a replicate (flag)"},
      {"repeats", integer(1, 10000), "measurements inside one run (1)"},
      {"warmup", duration(), "warm-up time, if the workload supports it"},
      {"precision", scalar(),
       "required relative half-width of the mean's 95 % interval, such as 1 %"},
      {"min_time", duration(), "minimum measurement time, if the workload supports it"},
      {"max_time", duration(), "maximum measurement time, if the workload supports it"},
      {"gpus_per_run", scalar(), "GPUs per run, or a factor as \"{gpus}\" (0)"},
      {"runs_per_gpu", integer(1, 64), "runs that share a GPU (1: exclusive)"},
      {"cpus_per_run", integer(1, 65536), "processors per run (equal parts of the machine's)"},
      {"memory_limit", scalar(), "memory limit of all processes of a run, such as 8 GiB"},
      {"processes", scalar(), "ranks of the program, or a factor as \"{ranks}\""},
      {"ranks", words({"mpirun", "srun"}),
       "program that starts the ranks (srun with the launcher slurm, else mpirun)"},
      {"telemetry", number_in(0, 1000), "GPU and machine samples per second; 0: none (10)"},
      {"expected", duration(),
       "expected time of one run, to estimate the total before the first has run"},
      {"environment", map_of(scalar(), false), "environment variables of every run"},
      {"set_up", list(text()),
       "command that starts what runs throughout a whole plot, such as a server"},
      {"ready", one_of({text(), list(text())}),
       "when the server can be used: an address that answers, http://{host}:{port}/PATH or "
       "tcp://{host}:{port} (the default if set_up contains {port}), or a command that ends with "
       "exit code 0"},
      {"ready_within", duration(), "time limit for the server to become ready (10 min)"},
      {"tear_down", list(text()), "command that ends the server (SIGTERM)"},
      {"after_run", list(text()), "command run after each attempt"},
      {"after_all", list(text()), "command run when `doetune run` ends"},
      {"kubernetes", kubernetes_schema(), "settings of the launcher kubernetes"},
      {"slurm", slurm_schema(), "settings of the launchers slurm and slurm-pilot"},
      {"spark", spark_schema(), "settings of the launcher spark"},
      {"ssh", ssh_schema(), "settings of the launcher ssh"},
  });
}

Schema design_schema() {
  return object({
      {"type", words(doe::design_type_names()), "type of the design", true},
      {"center_runs", integer(0, 10000), "runs at the centre"},
      {"replicates", integer(1, 10000), "how often the whole design is run (1)"},
      {"blocks", integer(1, 10000), "number of blocks, run one after the other (1)"},
      {"file", text(), "type table: the CSV file with the runs"},
      {"runs", integer(1, 100000), "number of runs, where the design leaves a choice"},
      {"levels", integer(2, 1000), "number of levels of a continuous or integer factor"},
      {"resolution", integer(3, 9), "resolution of a fraction (3 to 9)"},
      {"generators", list(text()), "generators of a fraction, such as [\"d = a*b*c\"]"},
      {"alpha", scalar(),
       "distance of axial runs: face, rotatable, orthogonal, spherical, or a number"},
      {"criterion", words({"maximin", "centered-l2", "maxpro"}), "space-filling criterion"},
      {"starts", scalar(),
       "number of random starts of the search, or auto: until more would hardly help"},
      {"time_limit", duration(), "time limit of the search"},
      {"weights",
       object({{"d", number(0), "weight of D-efficiency"},
               {"i", number(0), "weight of the average prediction variance"},
               {"a", number(0), "weight of the sum of coefficient variances"}}),
       "type compound-optimal: weights of its criteria, d with i or d with a ({d: 1, i: 1})"},
      {"possible", list(text()), "terms that may matter; there may be fewer runs than terms"},
      {"whole_plots", integer(1, 100000),
       "number of whole plots: groups of runs between which hard-to-change factors change"},
      {"budget", duration(), "total time of all runs; needs run_cost"},
      {"run_cost", duration(), "time of one run"},
      {"change_cost", duration(), "time to set up one whole plot"},
  });
}

std::vector<std::string> model_words() {
  std::vector<std::string> words = doe::Model::names();
  words.emplace_back("auto");
  return words;
}

Schema whole_file() {
  return object({
      {"study", text(), "name of the study; the file's name unless given"},
      {"seed", integer(0, 9007199254740992.0), "seed of the run order and of workload data (1)"},
      {"workload", text(), "a bundled workload: `doetune workloads` lists them"},
      {"command", list(text()), "any program, as a list of arguments with {factor} placeholders"},
      {"settings", map_of(scalar()), "inputs of the workload that are the same in every run"},
      {"factors", map_of(factor_schema()), "what is varied", true},
      {"constraints", list(text()), "expressions over natural units that every run must meet"},
      {"forbidden", list(map_of(scalar())), "combinations that must not be run"},
      {"infeasible_when", map_of(words_of<doe::InfeasibleWhen>()),
       "factors whose higher (or lower) settings are known to make a run need more memory or other "
       "resources, such as {batch: higher}"},
      {"feasibility", number_in(0, 1),
       "minimum probability that a run of the recommended settings completes (0.95)"},
      {"model", one_of({words(model_words()), list(text())}),
       "the terms to fit (quadratic): a name, or a list such as [\"1\", \"a\", \"a*b\", \"a^2\"]; "
       "auto: whatever predicts best, with a design for the default model of its type"},
      {"fit", fit_schema(), "how surfaces are fitted"},
      {"design", design_schema(), "which runs to make (the cheapest design for the factors)"},
      {"responses", map_of(response_schema()), "what is measured, and its goals", true},
      {"run", run_schema(), "how runs are executed"},
      {"confirm", object({{"runs", integer(1, 10000), "runs at the optimum (5)"}}),
       "settings of `doetune confirm`"},
  });
}

ordered_json json_schema(const Schema& schema);

ordered_json json_object(const Schema& schema) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const SchemaKey& key : schema.keys) {
    properties[key.name] = json_schema(key.value);
    properties[key.name]["description"] = key.description;
    if (key.required) required.push_back(key.name);
  }
  ordered_json json{
      {"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) json["required"] = required;
  return json;
}

ordered_json json_number(const char* type, const Schema& schema) {
  ordered_json json{{"type", type}};
  if (schema.minimum > -std::numeric_limits<double>::infinity()) json["minimum"] = schema.minimum;
  if (schema.maximum < std::numeric_limits<double>::infinity()) json["maximum"] = schema.maximum;
  return json;
}

ordered_json json_map(const Schema& schema) {
  ordered_json json{{"type", "object"},
                    {"additionalProperties", json_schema(schema.alternatives.front())}};
  if (schema.identifier_names) json["propertyNames"] = {{"pattern", "^[A-Za-z][A-Za-z0-9_]*$"}};
  return json;
}

ordered_json json_schema(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kText:
      return {{"type", ordered_json::array({"string", "number", "boolean"})}};
    case Kind::kNumber:
      return json_number("number", schema);
    case Kind::kInteger:
      return json_number("integer", schema);
    case Kind::kBoolean:
      return {{"type", "boolean"}};
    case Kind::kDuration:
      return {{"type", ordered_json::array({"number", "string"})},
              {"pattern", "^[0-9.eE+-]+ *(ms|s|min|h)?$"}};
    case Kind::kEnum:
      return {{"enum", schema.words}};
    case Kind::kScalar:
      return {{"type", ordered_json::array({"number", "string", "boolean"})}};
    case Kind::kList:
      return {{"type", "array"}, {"items", json_schema(schema.alternatives.front())}};
    case Kind::kObject:
      return json_object(schema);
    case Kind::kMap:
      return json_map(schema);
    case Kind::kOneOf:
      break;
  }
  ordered_json alternatives = ordered_json::array();
  for (const Schema& alternative : schema.alternatives) {
    alternatives.push_back(json_schema(alternative));
  }
  return {{"anyOf", alternatives}};
}

}  // namespace

const Schema& study_schema() {
  static const Schema schema = whole_file();
  return schema;
}

std::string study_json_schema() {
  ordered_json json{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "doetune study file"}};
  json.update(json_schema(study_schema()));
  return json.dump(2) + "\n";
}

bool is_identifier(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 && c < 128; };
  return !name.empty() && name.size() <= 64 && is_letter(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace doetune::study
