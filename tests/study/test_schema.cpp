#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "study/file/schema.h"
#include "study/file/yaml.h"

using namespace doetune;

TEST_CASE("The JSON Schema has every key of the study file", "[study][schema]") {
  const nlohmann::json json = nlohmann::json::parse(study::study_json_schema());
  CHECK(json["$schema"] == "http://json-schema.org/draft-07/schema#");
  CHECK(json["additionalProperties"] == false);
  CHECK(json["required"] == nlohmann::json({"factors", "responses"}));
  for (const study::SchemaKey& key : study::study_schema().keys) {
    REQUIRE(json["properties"].contains(key.name));
    CHECK(json["properties"][key.name]["description"] == key.description);
  }
  const auto& factor = json["properties"]["factors"]["additionalProperties"]["properties"];
  CHECK(factor["scale"]["enum"] == nlohmann::json({"linear", "log2", "log10", "log"}));
  CHECK(factor["low"]["type"] == "number");
}

TEST_CASE("Durations are numbers with a unit", "[study][schema]") {
  CHECK(study::parse_duration("10 min") == 600.0);
  CHECK(study::parse_duration("90") == 90.0);
  CHECK(study::parse_duration("1.5s") == 1.5);
  CHECK(study::parse_duration("250 ms") == 0.25);
  CHECK(study::parse_duration("2 h") == 7200.0);
  for (const char* text : {"", "s", "min 10", "10 minutes", "0 s", "-1 s", "1 2", "1e999", "nan"}) {
    INFO(text);
    CHECK_FALSE(study::parse_duration(text));
  }
}

TEST_CASE("Names are letters, digits and underscores after a letter", "[study][schema]") {
  CHECK(study::is_identifier("batch_size2"));
  for (const char* name : {"", "_a", "2a", "a b", "a-b", "\xc3\xa4", "a\n"}) {
    INFO(name);
    CHECK_FALSE(study::is_identifier(name));
  }
}
