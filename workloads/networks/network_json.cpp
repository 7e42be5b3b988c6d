#include "workloads/networks/network_json.h"

namespace doetune::workloads {
namespace {

using Json = nlohmann::ordered_json;

Json shape(const Shape& shape) {
  return {{"channels", shape.channels}, {"height", shape.height}, {"width", shape.width}};
}

Json extent(const Extent& extent) { return {extent.height, extent.width}; }

Json fields(const Convolution& conv) {
  return {{"kind", "convolution"},
          {"filters", conv.filters},
          {"kernel", extent(conv.kernel)},
          {"stride", conv.stride},
          {"pad", extent(conv.pad)},
          {"slope", negative_slope(conv.activation)},
          {"batch_norm", conv.batch_norm}};
}

Json fields(const MaxPool& pool) {
  return {{"kind", "max_pool"},
          {"kernel", pool.kernel},
          {"stride", pool.stride},
          {"pad_before", pool.pad_before},
          {"pad_after", pool.pad_after}};
}

Json fields(const AveragePool& pool) {
  return {{"kind", "average_pool"},
          {"kernel", extent(pool.kernel)},
          {"stride", pool.stride},
          {"pad", pool.pad}};
}

Json fields(const LocalResponseNorm& norm) {
  return {{"kind", "local_response_norm"},
          {"size", norm.size},
          {"alpha", norm.alpha},
          {"beta", norm.beta},
          {"bias", norm.bias}};
}

Json fields(const Sum& sum) {
  return {{"kind", "sum"}, {"slope", negative_slope(sum.activation)}};
}

Json fields(const Upsample& upsample) {
  return {{"kind", "upsample"}, {"factor", upsample.factor}};
}

Json fields(const ChannelArgMax&) { return {{"kind", "channel_arg_max"}}; }
Json fields(const Reorg& reorg) { return {{"kind", "reorg"}, {"stride", reorg.stride}}; }
Json fields(const Route&) { return {{"kind", "route"}}; }

Json head(const DetectionHead& head) {
  return {{"kind", "detection"}, {"anchors", head.anchors}, {"classes", head.classes}};
}

Json head(const ClassificationHead& head) {
  return {{"kind", "classification"}, {"classes", head.classes}};
}

Json head(const HeatMapHead& head) { return {{"kind", "heat_map"}, {"levels", head.levels}}; }

}  // namespace

Json to_json(const Network& network) {
  Json layers = Json::array();
  for (const Layer& layer : network.layers) {
    Json each = std::visit([](const auto& op) { return fields(op); }, layer.op);
    each["inputs"] = layer.inputs;
    each["output"] = shape(layer.output);
    layers.push_back(std::move(each));
  }
  return {{"name", network.name},
          {"input", shape(network.input)},
          {"head", std::visit([](const auto& each) { return head(each); }, network.head)},
          {"parameters", parameters(network)},
          {"multiply_accumulates", multiply_accumulates(network)},
          {"layers", std::move(layers)}};
}

}  // namespace doetune::workloads
