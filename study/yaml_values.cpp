#include "study/yaml_values.h"

#include "study/yaml.h"

namespace doetune::study {
namespace {

bool holds(const YAML::Node& node, const char* key) { return node && node[key]; }

}  // namespace

std::string text_at(const YAML::Node& node, const char* key, const std::string& otherwise) {
  return holds(node, key) ? node[key].Scalar() : otherwise;
}

std::optional<double> number_at(const YAML::Node& node, const char* key) {
  return holds(node, key) ? parse_number(node[key].Scalar()) : std::nullopt;
}

std::optional<int> whole_at(const YAML::Node& node, const char* key) {
  const auto number = number_at(node, key);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

std::optional<double> seconds_at(const YAML::Node& node, const char* key) {
  return holds(node, key) ? parse_duration(node[key].Scalar()) : std::nullopt;
}

std::vector<std::string> texts(const YAML::Node& list) {
  std::vector<std::string> result;
  for (const YAML::Node& item : list) result.push_back(item.Scalar());
  return result;
}

}  // namespace doetune::study
