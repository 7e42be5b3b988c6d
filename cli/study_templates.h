// Study files to start from: `doetune init --template NAME`.
#pragma once

#include <span>
#include <string_view>

namespace doetune::cli {

struct StudyTemplate {
  std::string_view name;
  std::string_view summary;
  std::string_view text;  ///< a commented study file
};

/// The first is what `doetune init` writes.
std::span<const StudyTemplate> study_templates();

/// A study of about a minute on two CPU cores, to see every step once.
std::string_view demo_study();

}  // namespace doetune::cli
