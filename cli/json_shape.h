// The shape of a JSON document, as JSON Schema (draft 7), in few words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace doetune::cli {

using Shape = nlohmann::ordered_json;

/// Keys with their values. A key that ends with "?" may be missing.
using ShapeKeys = std::vector<std::pair<std::string, Shape>>;

Shape text();
Shape number();
Shape integer();
Shape flag();      ///< true or false
Shape anything();  ///< said elsewhere, or of many kinds
Shape words(const std::vector<std::string>& allowed);
Shape list(const Shape& item);
Shape map(const Shape& value);    ///< of any names
Shape maybe(const Shape& value);  ///< or null
Shape either(const std::vector<Shape>& shapes);

/// Further keys may come with newer versions, so a reader must not be surprised by them.
Shape object(const ShapeKeys& keys);

/// The same of a whole document, which says its `schema_version`.
Shape versioned(const ShapeKeys& keys);

/// All keys of two objects.
Shape joined(const Shape& first, const Shape& second);

}  // namespace doetune::cli
