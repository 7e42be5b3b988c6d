// Files of a study directory, read whole and replaced whole, and what a wrong path may have meant.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace doetune::study {

/// A study directory that cannot be used: missing, half-deleted, read-only, locked by another
/// process, or written by a newer doetune. The message names the file and the remedy. Exit code 4.
struct DirectoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws DirectoryError: "FILE: message".
[[noreturn]] void fail_at_path(const std::filesystem::path& path, const std::string& message);

/// Writes a file so that a reader sees the old content or the new, never a part.
/// Throws DirectoryError.
void write_file_atomically(const std::filesystem::path& file, const std::string& content);

/// The same, and on the disk when it returns: for what another host reads, or must survive a crash
/// of the machine.
void write_file_durably(const std::filesystem::path& file, const std::string& content);

/// Makes a directory, and those above it that are missing; on the disk when it returns. Throws
/// DirectoryError.
void create_directories_durably(const std::filesystem::path& path);

/// A whole file as text. Throws DirectoryError.
std::string read_file(const std::filesystem::path& file);

/// Whether a study's plan or journal is there, whole or not.
bool is_study_directory(const std::filesystem::path& path);

enum class Entry { kFile, kStudyDirectory };

/// "; did you mean 'fccd.yaml'?" for the entry of that kind, in the same directory, whose name is
/// nearest; empty where none is near. Ready to end a message.
std::string did_you_mean_entry(const std::filesystem::path& missing, Entry kind);

}  // namespace doetune::study
