// The shape of the study file as data: one table that checks a file, and writes the JSON Schema.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace doetune::study {

struct SchemaKey;

/// What a value in the study file may be.
struct Schema {
  enum class Kind {
    kText,      ///< one scalar, taken as it is written
    kNumber,    ///< a finite number in [minimum, maximum]
    kInteger,   ///< a whole number in [minimum, maximum]
    kBoolean,   ///< true or false
    kDuration,  ///< seconds, or a number with ms, s, min or h; above 0
    kEnum,      ///< one of `words`
    kScalar,    ///< a number or a word
    kList,      ///< items of the first alternative
    kObject,    ///< the keys of `keys`, no other
    kMap,       ///< any name, each with a value of the first alternative
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

/// The study file of INTERFACES.md.
const Schema& study_schema();

/// The same as JSON Schema (draft 7), for editors: `doetune schema`.
std::string study_json_schema();

/// Whether a name is one that factors and responses may have.
bool is_identifier(const std::string& name);

}  // namespace doetune::study
