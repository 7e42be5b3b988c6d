// What is said of a setting that a factor cannot have.
#pragma once

#include <string>

#include "doe/factor.h"

namespace doetune::study {

/// "'x' is no setting of factor 'rate'; expected a number from 1 to 9", or the nearest level.
std::string setting_error(const doe::Factor& factor, const std::string& text);

}  // namespace doetune::study
