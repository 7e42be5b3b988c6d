#include <catch2/catch.hpp>

#include <set>

#include "workloads/networks/network_json.h"
#include "workloads/networks/weights.h"

using namespace doetune;
using namespace doetune::workloads;
using Json = nlohmann::ordered_json;

namespace {

/// The shape of the tensor that an input refers to.
Json shape_of(const Json& network, int index) {
  return index == kNetworkInput ? network["input"] : network["layers"][index]["output"];
}

double elements(const Json& shape) {
  return shape[0].get<double>() * shape[1].get<double>() * shape[2].get<double>();
}

}  // namespace

TEST_CASE("multiply-accumulates and weights follow from the JSON of every network",
          "[network_json]") {
  for (const NetworkType& type : network_types()) {
    CAPTURE(type.name);
    const Network network = type.build(type.default_height);
    const Json json = Json::parse(to_json(network).dump());
    CHECK(json["name"] == type.name);
    REQUIRE(json["layers"].size() == network.layers.size());
    double multiply_accumulates_there = 0;
    double weights = 0;
    for (const Json& layer : json["layers"]) {
      if (layer["op"] != "convolution") continue;
      const Json in = shape_of(json, layer["inputs"][0].get<int>());
      const double filters = layer["filters"];
      const double kernel = filters * in[0].get<double>() * layer["kernel"][0].get<double>() *
                            layer["kernel"][1].get<double>();
      multiply_accumulates_there += kernel * elements(layer["output"]) / filters;
      weights += kernel + filters;
    }
    CHECK(multiply_accumulates_there == static_cast<double>(multiply_accumulates(network)));
    CHECK(json["multiply_accumulates"] == multiply_accumulates(network));
    CHECK(json["parameters"] == parameters(network));
    CHECK(weights == static_cast<double>(weight_count(network)));
  }
}

TEST_CASE("every kind of layer has a name of its own in JSON", "[network_json]") {
  std::set<std::string> kinds;
  for (const NetworkType& type : network_types()) {
    const Json json = to_json(type.build(type.default_height));
    for (const Json& layer : json["layers"]) kinds.insert(layer["op"].get<std::string>());
  }
  CHECK(kinds.size() == std::variant_size_v<decltype(Layer::op)>);
}
