#include "base/json_format.h"

namespace doetune::json {
namespace {

Schema of_type(const char* type) { return {{"type", type}}; }

}  // namespace

Schema text() { return of_type("string"); }
Schema number() { return of_type("number"); }
Schema integer() { return of_type("integer"); }
Schema flag() { return of_type("boolean"); }
Schema anything() { return Schema::object(); }
Schema words(const std::vector<std::string>& allowed) { return {{"enum", allowed}}; }
Schema list(const Schema& item) { return {{"type", "array"}, {"items", item}}; }
Schema map(const Schema& value) { return {{"type", "object"}, {"additionalProperties", value}}; }
Schema maybe(const Schema& value) { return either({value, of_type("null")}); }
Schema either(const std::vector<Schema>& schemas) { return {{"anyOf", schemas}}; }

std::string text_of(const Value& document) {
  return document.dump(2, ' ', false, Value::error_handler_t::replace) + "\n";
}

AnyField field(std::string_view key, Schema schema, Writer write) {
  if (!key.ends_with('?')) return {key, false, std::move(schema), std::move(write)};
  key.remove_suffix(1);
  const bool nullable = schema.contains("anyOf") && schema["anyOf"].back() == of_type("null");
  return {key, true, nullable ? schema["anyOf"][0] : schema, std::move(write)};
}

AnyField version_field() {
  return field("schema_version", {{"const", kSchemaVersion}},
               [](const void*) { return Value(kSchemaVersion); });
}

Schema schema_of_object(const std::vector<AnyField>& fields) {
  Schema properties = Schema::object(), required = Schema::array();
  for (const AnyField& field : fields) {
    const bool whole = field.name.empty();
    whole ? properties.update(field.schema["properties"])
          : void(properties[std::string(field.name)] = field.schema);
    if (field.optional) continue;
    const Schema always = whole ? field.schema["required"] : Schema::array({field.name});
    required.insert(required.end(), always.begin(), always.end());
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

Writer writer_of_object(const std::vector<AnyField>& fields) {
  return [fields](const void* value) {
    Value object = Value::object();
    for (const AnyField& field : fields) {
      Value written = field.write(value);
      if (field.optional && (written.is_null() || written == "")) continue;
      field.name.empty() ? object.update(written)
                         : void(object[std::string(field.name)] = std::move(written));
    }
    return object;
  };
}

}  // namespace doetune::json
