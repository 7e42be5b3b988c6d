// Forward declarations for headers that name the format of a document (base/json_format.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace doetune::json {

using Value = nlohmann::ordered_json;
using Schema = Value;  ///< JSON Schema, draft 7

template <class T>
struct Format;

}  // namespace doetune::json
