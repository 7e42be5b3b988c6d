#include "base/version.h"

namespace doetune {

std::string_view version() { return DOETUNE_VERSION; }
std::string_view release_date() { return DOETUNE_RELEASED; }

}  // namespace doetune
