// The files of an attempt as text on standard output, from a host that shares no file system.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace doetune::runner {

/// What an attempt left in its directory, and the conditions that its host noted in the study
/// directory. Of the program's output, the ends that are read (outcome.h). Telemetry above 4 MiB is
/// thinned. Text in lines of at most 12 KiB, as a container's log splits longer ones; bytes that
/// are not UTF-8 are replaced:
///
///   doetune {"file":"result.json","text":"{\"y\": "}
///   doetune {"file":"result.json","text":"1}"}
///   doetune {"end":"HASH"}                              of the lines before
std::string printed_attempt(const std::filesystem::path& attempt_directory);

/// Writes the files of an attempt from a text that contains them, among other lines; `exit` last.
/// Returns false, and writes nothing, if they are not all there, unchanged. Other names than those
/// of an attempt's files are refused. Throws study::DirectoryError.
bool store_printed_attempt(std::string_view text, const std::filesystem::path& attempt_directory);

}  // namespace doetune::runner
