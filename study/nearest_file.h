// The file or directory that a path which is not there may have meant.
#pragma once

#include <filesystem>
#include <string>

namespace doetune::study {

enum class Entry { kFile, kStudyDirectory };

/// "; did you mean 'fccd.yaml'?" for the entry of that kind, in the same directory, whose name is
/// nearest; empty where none is near. Ready to end a message.
std::string did_you_mean_entry(const std::filesystem::path& missing, Entry kind);

}  // namespace doetune::study
