#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_format.h"

using namespace doetune;

namespace {

enum class Ending { kGood, kBad };

struct Step {
  std::string name;
  std::optional<double> p;
};

struct Host {
  std::string host;
  std::optional<std::string> gpu;
};

struct NamedHost : Host {};

struct Run {
  int number = 3;
  double mean = 0.5;
  bool fast = true;
  std::filesystem::path file = "a/b";
  Ending ending = Ending::kBad;
  std::vector<Step> steps{{"a", 0.25}, {"b", {}}};
  std::map<std::string, int> counts{{"x", 1}};
  std::optional<Step> last;
  std::optional<NamedHost> node;
};

json::Format<Step> step_format() {
  return json::object<Step>({{"name", &Step::name}, {"p", &Step::p}});
}

json::Format<Host> host_format() {
  return json::object<Host>({{"host", &Host::host}, {"gpu?", &Host::gpu}});
}

json::Value schema(const char* text) { return json::Value::parse(text); }

}  // namespace

TEST_CASE("A table of fields writes what types and formats say, in its order", "[json]") {
  const auto format = json::document<Run>(
      {{"run", &Run::number},
       {"mean", &Run::mean},
       {"twice", [](const Run& run) { return 2 * run.mean; }},
       {"fast", &Run::fast},
       {"file", &Run::file},
       {"ending", &Run::ending, json::words<Ending>({"good", "bad"})},
       {"steps", &Run::steps, step_format()},
       {"by_name", &Run::steps, json::by_name(&Step::name, step_format())},
       {"counts", &Run::counts},
       {"last", &Run::last, step_format()},
       {"kind", [](const Run&) { return "word"; }, json::words({"word", "other"})}});
  CHECK(format.write({}).dump() ==
        R"({"schema_version":1,"run":3,"mean":0.5,"twice":1.0,"fast":true,"file":"a/b",)"
        R"("ending":"bad","steps":[{"name":"a","p":0.25},{"name":"b","p":null}],)"
        R"("by_name":{"a":{"name":"a","p":0.25},"b":{"name":"b","p":null}},"counts":{"x":1},)"
        R"("last":null,"kind":"word"})");
  const json::Value properties = format.schema["properties"];
  CHECK(properties["run"] == schema(R"({"type": "integer"})"));
  CHECK(properties["mean"] == schema(R"({"type": "number"})"));
  CHECK(properties["twice"] == properties["mean"]);
  CHECK(properties["fast"] == schema(R"({"type": "boolean"})"));
  CHECK(properties["file"] == schema(R"({"type": "string"})"));
  CHECK(properties["ending"] == schema(R"({"enum": ["good", "bad"]})"));
  const json::Value step = schema(R"({"type": "object", "properties": {"name": {"type": "string"},
      "p": {"anyOf": [{"type": "number"}, {"type": "null"}]}}, "required": ["name", "p"]})");
  CHECK(properties["steps"] == json::Value{{"type", "array"}, {"items", step}});
  CHECK(properties["by_name"] == json::Value{{"type", "object"}, {"additionalProperties", step}});
  CHECK(properties["last"] == json::maybe(step));
  CHECK(properties["kind"] == schema(R"({"enum": ["word", "other"]})"));
  CHECK(format.schema["required"].size() == properties.size());
}

TEST_CASE("What may be missing is left out and not required", "[json]") {
  const auto format = json::object<Run>({{"run", &Run::number}, {&Run::node, host_format()}});
  Run run;
  CHECK(format.write(run).dump() == R"({"run":3})");
  run.node = NamedHost{{"n1", {}}};
  CHECK(format.write(run).dump() == R"({"run":3,"host":"n1"})");
  run.node->gpu = "H200";
  CHECK(format.write(run).dump() == R"({"run":3,"host":"n1","gpu":"H200"})");
  CHECK(format.schema["required"] == schema(R"(["run"])"));
  CHECK(format.schema["properties"].size() == 3);
  CHECK(format.schema["properties"]["gpu"] == schema(R"({"type": "string"})"));
  run.node->gpu = "";
  CHECK(format.write(run).dump() == R"({"run":3,"host":"n1"})");
  CHECK(host_format().schema["required"] == schema(R"(["host"])"));
}

TEST_CASE("A document is JSON whatever it is made of", "[json]") {
  const auto format = json::object<Step>({{"name", &Step::name}, {"p", &Step::p}});
  const Step step{"\xFF", std::numeric_limits<double>::quiet_NaN()};
  CHECK(format.text(step) == "{\n  \"name\": \"\xEF\xBF\xBD\",\n  \"p\": null\n}\n");
}
