// One table of fields both writes a JSON document and generates its JSON Schema, so that the two
// cannot differ:
//
//   json::object<Run>({{"run", &Run::number},                         a member, or
//                      {"mean_s", [](const Run& run) { ... }},        what is computed
//                      {"p", &Run::p, json::maybe(json::number())},   with a schema of its own
//                      {"steps", &Run::steps, step_format()},         with the format of its items
//                      {"gpu?", &Run::gpu},                           left out where null or ""
//                      {&Run::counts, counts_format()}})              all fields of another object
//
// Other types need no format: numbers, bool and text are written as such; an empty std::optional, a
// null pointer and a non-finite number as null; a std::map as an object with arbitrary keys; other
// containers as an array.
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json_format_fwd.h"

namespace doetune::json {

inline constexpr int kSchemaVersion = 1;

Schema text();
Schema number();
Schema integer();
Schema flag();      ///< true or false
Schema anything();  ///< a value of any type, or one described elsewhere
Schema words(const std::vector<std::string>& allowed);
Schema list(const Schema& item);
Schema map(const Schema& value);    ///< an object with arbitrary keys
Schema maybe(const Schema& value);  ///< or null
Schema either(const std::vector<Schema>& schemas);

/// A document as text: indented, terminated by a line feed, invalid UTF-8 replaced.
std::string text_of(const Value& document);

/// Writes the object at the given address.
using Writer = std::function<Value(const void*)>;

/// How a T is written, and the schema of the result.
template <class T>
struct Format {
  template <class V>
  static constexpr bool kWrites = std::same_as<V, T> || std::derived_from<V, T>;

  Schema schema;
  Writer writer;

  template <class V>
  Schema schema_for() const {
    return schema;
  }
  Value write(const T& value) const { return writer(&value); }
  std::string text(const T& value) const { return text_of(write(value)); }
};

template <class V>
concept Text = std::convertible_to<const V&, std::string_view>;

/// The format of numbers, bool and text.
struct Plain {
  template <class V>
  static constexpr bool kWrites =
      std::is_arithmetic_v<V> || Text<V> || std::same_as<V, std::filesystem::path>;

  template <class V>
  Schema schema_for() const {
    if constexpr (std::same_as<V, bool>) return flag();
    if constexpr (std::integral<V>) return integer();
    if constexpr (std::floating_point<V>) return number();
    return text();
  }
  template <class V>
  Value write(const V& value) const {
    if constexpr (std::is_arithmetic_v<V>) return value;
    if constexpr (Text<V>) return std::string_view(value);
    if constexpr (std::same_as<V, std::filesystem::path>) return value.string();
  }
};

template <class V>
concept Nullable = requires(const V& value) {
  *value, static_cast<bool>(value);
};

template <class V>
concept Map = requires {
  typename V::mapped_type;
};

/// The schema of a V whose innermost values have the format `inner`.
template <class V, class Inner>
Schema schema_of(const Inner& inner) {
  if constexpr (Inner::template kWrites<V>) {
    return inner.template schema_for<V>();
  } else if constexpr (Nullable<V>) {
    return maybe(schema_of<std::remove_cvref_t<decltype(*std::declval<const V&>())>>(inner));
  } else if constexpr (Map<V>) {
    return map(schema_of<typename V::mapped_type>(inner));
  } else {
    return list(schema_of<typename V::value_type>(inner));
  }
}

/// A V written in that format.
template <class V, class Inner>
Value written(const V& value, const Inner& inner) {
  if constexpr (Inner::template kWrites<V>) {
    return inner.write(value);
  } else if constexpr (Nullable<V>) {
    return value ? written(*value, inner) : Value();
  } else if constexpr (Map<V>) {
    Value object = Value::object();
    for (const auto& [name, item] : value) object[name] = written(item, inner);
    return object;
  } else {
    Value array = Value::array();
    for (const auto& item : value) array.push_back(written(item, inner));
    return array;
  }
}

/// The member `get` of `from`, or the result of calling it. Like std::invoke, which takes longer to
/// compile.
template <class Get, class T>
decltype(auto) got(const Get& get, const T& from) {
  if constexpr (std::is_member_object_pointer_v<Get>) {
    return (from.*get);
  } else if constexpr (std::is_member_function_pointer_v<Get>) {
    return (from.*get)();
  } else {
    return get(from);
  }
}

/// The format of a T that `write` converts to a JSON value.
template <class T, class Write>
Format<T> format(Schema schema, Write write) {
  return {std::move(schema),
          [write](const void* value) { return write(*static_cast<const T*>(value)); }};
}

/// An enumeration with values from 0, written as the word at its index.
template <class Enum>
Format<Enum> words(const std::vector<std::string>& all) {
  return format<Enum>(
      words(all), [all](Enum value) -> Value { return all.at(static_cast<std::size_t>(value)); });
}

/// A list written as an object with each item under its name.
template <class T, class Name>
Format<std::vector<T>> by_name(Name name, const Format<T>& item) {
  return format<std::vector<T>>(map(item.schema), [name, item](const std::vector<T>& items) {
    Value object = Value::object();
    for (const T& value : items) object[got(name, value)] = item.write(value);
    return object;
  });
}

/// A field of an object of any type.
struct AnyField {
  std::string_view name;  ///< empty: all fields of another object
  bool optional;          ///< left out where it is null or empty text
  Schema schema;
  Writer write;
};

/// A key that ends with "?" marks an optional field: omitted when null or empty, so its schema
/// excludes null.
AnyField field(std::string_view key, Schema schema, Writer write);

/// A row of the table of a T's fields, as above.
template <class T>
class Field {
 public:
  template <class Get>
  Field(std::string_view key, Get get)
      : any(field(key, schema_of<Result<Get>>(Plain()), writer(get, Plain()))) {}

  template <class Get, class Inner>
  Field(std::string_view key, Get get, const Format<Inner>& inner)
      : any(field(key, schema_of<Result<Get>>(inner), writer(get, inner))) {}

  template <class Get>
  Field(std::string_view key, Get get, Schema schema)
      : any(field(key, std::move(schema), [get](const void* value) {
          return Value(got(get, *static_cast<const T*>(value)));
        })) {}

  template <class Get, class Object>
  Field(Get get, const Format<Object>& object)
      : any{"", Nullable<Result<Get>>, object.schema, writer(get, object)} {}

  AnyField any;

 private:
  template <class Get>
  using Result = std::remove_cvref_t<decltype(got(std::declval<Get>(), std::declval<const T&>()))>;

  template <class Get, class Inner>
  static Writer writer(Get get, const Inner& inner) {
    return [get, inner](const void* value) {
      return written<Result<Get>>(got(get, *static_cast<const T*>(value)), inner);
    };
  }
};

/// Newer versions may add keys, so readers must ignore unknown ones.
Schema schema_of_object(const std::vector<AnyField>& fields);
Writer writer_of_object(const std::vector<AnyField>& fields);

AnyField version_field();

template <class T>
Format<T> object(std::initializer_list<Field<T>> table) {
  std::vector<AnyField> fields;
  for (const Field<T>& line : table) fields.push_back(line.any);
  return {schema_of_object(fields), writer_of_object(fields)};
}

/// A whole document, with its `schema_version` first.
template <class T>
Format<T> document(std::initializer_list<Field<T>> table) {
  std::vector<AnyField> fields{version_field()};
  for (const Field<T>& line : table) fields.push_back(line.any);
  return {schema_of_object(fields), writer_of_object(fields)};
}

}  // namespace doetune::json
