// The experimental region of a study as text, to detect that it was edited.
#pragma once

#include <map>
#include <string>

#include "study/study.h"

namespace doetune::study {

/// What designs and predictions depend on besides the runs, by the keys of Study::location():
/// "factors.a": "continuous from -1 to 1", "constraints": "a + b <= 1". Two studies with the same
/// texts have the same coding and the same allowed settings.
std::map<std::string, std::string> experimental_region(const Study& study);

}  // namespace doetune::study
