// Templates of study files: `doetune init --template NAME`.
#pragma once

#include <span>
#include <string_view>

namespace doetune::cli {

struct StudyTemplate {
  std::string_view name;
  std::string_view summary;
  std::string_view text;  ///< a commented study file
};

/// The first is the default of `doetune init`.
std::span<const StudyTemplate> study_templates();

/// A study that takes about a minute on two CPU cores, to demonstrate every step.
std::string_view demo_study();

}  // namespace doetune::cli
