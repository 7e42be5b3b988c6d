#include "runner/attempts/printed_attempt.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bounded_file.h"
#include "base/hash.h"
#include "base/untrusted_json.h"
#include "runner/attempts/outcome.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kMark = "doetune ";
constexpr std::string_view kConditions = "conditions/";
constexpr std::array<std::string_view, 5> kFiles{"stdout", "stderr", "telemetry.csv", "result.json",
                                                 "exit"};
constexpr std::size_t kChunkBytes = 2048;  // 12 KiB if every byte is escaped
constexpr std::size_t kMaxTelemetryBytes = 4 << 20;
constexpr std::size_t kMaxTelemetryRead = 64 << 20;

/// The line that begins there, with its end.
std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size() - 1) + 1 - begin);
}

/// Every second line below the header is left out until the rest fits.
std::string thinned(std::string text) {
  while (text.size() > kMaxTelemetryBytes) {
    std::string rest(line_at(text, 0));
    bool keeps = true;
    for (std::size_t begin = rest.size(); begin < text.size(); keeps = !keeps) {
      const std::string_view row = line_at(text, begin);
      if (keeps) rest += row;
      begin += row.size();
    }
    if (rest.size() == text.size()) return "";  // no table
    text = std::move(rest);
  }
  return text;
}

std::string content(const fs::path& directory, std::string_view name) {
  const fs::path file = directory / name;
  if (name == "stdout" || name == "stderr") return read_tail(file, kTailBytes);
  if (name != "telemetry.csv") return read_bounded(file, kMaxJsonBytes).value_or("");
  return thinned(read_bounded(file, kMaxTelemetryRead).value_or(""));
}

/// The end of a chunk that begins there: not inside a UTF-8 character.
std::size_t chunk_end(std::string_view text, std::size_t begin) {
  if (text.size() - begin <= kChunkBytes) return text.size();
  std::size_t end = begin + kChunkBytes;
  for (int back = 0; back < 3 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; ++back) {
    --end;
  }
  return end;
}

std::string line(const Json& object) {
  return std::string(kMark) + object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_file(const std::string& name, std::string_view text, std::string& lines) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = chunk_end(text, begin);
    lines += line({{"file", name}, {"text", text.substr(begin, end - begin)}});
    begin = end;
  }
}

/// A name from the printed text, which is not trusted.
bool may_be_stored(const std::string& name) {
  if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end()) return true;
  if (!name.starts_with(kConditions) || !name.ends_with(".json")) return false;
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-'; };
  return std::all_of(name.begin() + kConditions.size(), name.end(),
                     [&](unsigned char c) { return plain(c) || c == '_'; });
}

std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The files by name; empty if the end is missing or a line has changed.
std::optional<std::map<std::string, std::string>> files_in(std::string_view text) {
  std::map<std::string, std::string> files;
  std::string lines;
  while (!text.empty()) {
    const std::string_view found = line_at(text, 0);
    text.remove_prefix(found.size());
    if (!found.starts_with(kMark)) continue;
    const auto object = parse_untrusted(found.substr(kMark.size()));
    if (!object) continue;
    if (object->contains("end")) {
      return object->at("end") == text_hash(lines) ? std::optional(files) : std::nullopt;
    }
    const std::string name = text_in(*object, "file");
    if (may_be_stored(name)) files[name] += text_in(*object, "text");
    lines += found;
  }
  return std::nullopt;
}

}  // namespace

std::string printed_attempt(const fs::path& attempt_directory) {
  std::string lines;
  const fs::path study = attempt_directory.parent_path().parent_path();
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(study / "conditions", none)) {
    const std::string name = entry.path().filename().string();
    print_file(std::string(kConditions) + name, content(study / "conditions", name), lines);
  }
  for (const std::string_view name : kFiles) {
    print_file(std::string(name), content(attempt_directory, name), lines);
  }
  return lines + line({{"end", text_hash(lines)}});
}

bool store_printed_attempt(std::string_view text, const fs::path& attempt_directory) {
  const auto files = files_in(text);
  if (!files || files->count("exit") == 0) return false;
  const fs::path study = attempt_directory.parent_path().parent_path();
  std::error_code ignored;
  fs::create_directory(study / "conditions", ignored);
  for (const auto& [name, content] : *files) {
    if (name == "exit") continue;
    study::write_file_durably((name.starts_with(kConditions) ? study : attempt_directory) / name,
                              content);
  }
  study::write_file_durably(attempt_directory / "exit", files->at("exit"));
  return true;
}

}  // namespace doetune::runner
