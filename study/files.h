// Reads and atomically replaces files of a study directory, and suggests corrections of paths.
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

/// Writes a file atomically: a reader sees the old content or the new. Throws DirectoryError.
void write_file_atomically(const std::filesystem::path& file, const std::string& content);

/// Like write_file_atomically, and durable when it returns: for files that another host reads, or
/// that must survive a crash of the machine.
void write_file_durably(const std::filesystem::path& file, const std::string& content);

/// Creates a directory and its missing parents, durably. Throws DirectoryError.
void create_directories_durably(const std::filesystem::path& path);

/// The content of a file. Throws DirectoryError.
std::string read_file(const std::filesystem::path& file);

/// Whether a study's plan or journal is there, whole or not.
bool is_study_directory(const std::filesystem::path& path);

enum class Entry { kFile, kStudyDirectory };

/// "; did you mean 'fccd.yaml'?" for the entry of that kind in the same directory whose name is
/// most similar; empty if none is similar. Appended to a message.
std::string did_you_mean_entry(const std::filesystem::path& missing, Entry kind);

}  // namespace doetune::study
