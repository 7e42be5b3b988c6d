// The structure of the study file as data, used to check files and to write the JSON Schema.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace doetune::study {

struct SchemaKey;

/// What a value in the study file may be.
struct Schema {
  enum class Kind {
    kText,      ///< a scalar, taken literally
    kNumber,    ///< a finite number in [minimum, maximum]
    kInteger,   ///< an integer in [minimum, maximum]
    kBoolean,   ///< true or false
    kDuration,  ///< seconds, or a number with ms, s, min or h; above 0
    kEnum,      ///< one of `words`
    kScalar,    ///< a number or a word
    kList,      ///< a list of values of the first alternative
    kObject,    ///< a map with the keys in `keys` only
    kMap,       ///< a map with arbitrary keys and values of the first alternative
    kOneOf      ///< the first of `alternatives` whose YAML type fits
  };

  Kind kind = Kind::kText;
  std::vector<SchemaKey> keys;
  std::vector<Schema> alternatives;
  std::vector<std::string> words;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool identifier_names = true;  ///< kMap: names must match [A-Za-z][A-Za-z0-9_]*
};

struct SchemaKey {
  std::string name;
  Schema value;
  std::string description;
  bool required = false;
};

/// The structure of the study file (docs/reference.md).
const Schema& study_schema();

/// The same as JSON Schema (draft 7), for editors: `doetune schema`.
std::string study_json_schema();

/// Whether a name is valid for factors and responses.
bool is_identifier(const std::string& name);

}  // namespace doetune::study
