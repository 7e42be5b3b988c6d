#include "cli/json_shape.h"

namespace doetune::cli {
namespace {

Shape of_type(const char* type) { return {{"type", type}}; }

}  // namespace

Shape text() { return of_type("string"); }
Shape number() { return of_type("number"); }
Shape integer() { return of_type("integer"); }
Shape flag() { return of_type("boolean"); }
Shape anything() { return Shape::object(); }
Shape words(const std::vector<std::string>& allowed) { return {{"enum", allowed}}; }
Shape list(const Shape& item) { return {{"type", "array"}, {"items", item}}; }
Shape map(const Shape& value) { return {{"type", "object"}, {"additionalProperties", value}}; }
Shape maybe(const Shape& value) { return either({value, of_type("null")}); }

Shape either(const std::vector<Shape>& shapes) {
  Shape all{{"anyOf", Shape::array()}};
  for (const Shape& shape : shapes) all["anyOf"].push_back(shape);
  return all;
}

Shape object(const ShapeKeys& keys) {
  Shape properties = Shape::object(), required = Shape::array();
  for (const auto& [name, value] : keys) {
    const bool optional = name.ends_with('?');
    const std::string key = optional ? name.substr(0, name.size() - 1) : name;
    properties[key] = value;
    if (!optional) required.push_back(key);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

Shape versioned(const ShapeKeys& keys) {
  return joined(object({{"schema_version", {{"const", 1}}}}), object(keys));
}

Shape joined(const Shape& first, const Shape& second) {
  Shape both = first;
  both["properties"].update(second["properties"]);
  for (const Shape& key : second["required"]) both["required"].push_back(key);
  return both;
}

}  // namespace doetune::cli
