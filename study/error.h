// Errors in what the user wrote.
#pragma once

#include <stdexcept>
#include <string>

#include "doe/factor.h"

namespace doetune::study {

/// An error in a file that the user wrote. The message begins with file:line:column and says what
/// was expected. Exit code 3.
struct StudyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "'x' is no setting of factor 'rate'; expected a number from 1 to 9", or the nearest level.
std::string setting_error(const doe::Factor& factor, const std::string& text);

}  // namespace doetune::study
