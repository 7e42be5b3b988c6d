#include "workloads/networks/network_json.h"

namespace doetune::workloads {
namespace {

using Json = nlohmann::ordered_json;

Json size(const Shape& shape) { return {shape.channels, shape.height, shape.width}; }
Json size(const Extent& extent) { return {extent.height, extent.width}; }

Json fields(const Convolution& conv) {
  return {{"op", "convolution"},          {"filters", conv.filters},
          {"kernel", size(conv.kernel)},  {"stride", conv.stride},
          {"pad", size(conv.pad)},        {"slope", negative_slope(conv.activation)},
          {"batch_norm", conv.batch_norm}};
}

Json fields(const MaxPool& pool) {
  return {{"op", "max_pool"},
          {"kernel", pool.kernel},
          {"stride", pool.stride},
          {"pad_before", pool.pad_before},
          {"pad_after", pool.pad_after}};
}

Json fields(const AveragePool& pool) {
  return {{"op", "average_pool"},
          {"kernel", size(pool.kernel)},
          {"stride", pool.stride},
          {"pad", pool.pad}};
}

Json fields(const LocalResponseNorm& norm) {
  return {{"op", "local_response_norm"},
          {"size", norm.size},
          {"alpha", norm.alpha},
          {"beta", norm.beta},
          {"bias", norm.bias}};
}

Json fields(const Sum& sum) { return {{"op", "sum"}, {"slope", negative_slope(sum.activation)}}; }

Json fields(const Upsample& upsample) { return {{"op", "upsample"}, {"factor", upsample.factor}}; }

Json fields(const ChannelArgMax&) { return {{"op", "channel_arg_max"}}; }
Json fields(const Reorg& reorg) { return {{"op", "reorg"}, {"stride", reorg.stride}}; }
Json fields(const Route&) { return {{"op", "route"}}; }

Json head(const DetectionHead& head) {
  return {{"kind", "detection"}, {"anchors", head.anchors}, {"classes", head.classes}};
}

Json head(const ClassificationHead& head) {
  return {{"kind", "classification"}, {"classes", head.classes}};
}

Json head(const HeatMapHead& head) { return {{"kind", "heat_map"}, {"levels", head.levels}}; }
Json head(const NoHead&) { return {{"kind", "none"}}; }

}  // namespace

Json to_json(const Network& network) {
  Json layers = Json::array();
  for (const Layer& layer : network.layers) {
    Json each = std::visit([](const auto& op) { return fields(op); }, layer.op);
    each["inputs"] = layer.inputs;
    each["output"] = size(layer.output);
    layers.push_back(std::move(each));
  }
  return {{"name", network.name},
          {"input", size(network.input)},
          {"head", std::visit([](const auto& each) { return head(each); }, network.head)},
          {"parameters", parameters(network)},
          {"multiply_accumulates", multiply_accumulates(network)},
          {"layers", std::move(layers)}};
}

}  // namespace doetune::workloads
