// The region of a study in words, so that a change of it can be told.
#pragma once

#include <map>
#include <string>

#include "study/study.h"

namespace doetune::study {

/// What designs and predictions rest on besides the runs, by the keys of Study::location():
/// "factors.a": "continuous from -1 to 1", "constraints": "a + b <= 1". Two studies with the same
/// texts code the same settings alike, and allow the same.
std::map<std::string, std::string> experimental_region(const Study& study);

}  // namespace doetune::study
