#include "study/formats/result_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/text.h"
#include "study/error.h"
#include "study/file/yaml.h"
#include "study/files.h"

namespace doetune::study {
namespace {

using nlohmann::json;

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::size_t kMaxYamlBytes = std::size_t{64} << 20;
constexpr int kMaxYamlNodes = 5'000'000;  // aliases may repeat nodes without end
constexpr int kMaxYamlDepth = 64;

/// Replaces the words NaN, Infinity and -Infinity outside of strings, which Python's json writes.
std::string without_non_finite(std::string_view text) {
  std::string clean;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      clean += text[i++];
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (!text.substr(i).starts_with(word)) continue;
        clean += "null";
        i += word.size();
        break;
      }
      if (i == text.size()) break;
      in_string = text[i] == '"';
    }
    clean += text[i];
  }
  return clean;
}

/// What is wrong with JSON text, and after how many bytes.
struct JsonError {
  std::size_t byte;
  std::string message;
};

std::optional<JsonError> parse(std::string_view text, json& value) {
  try {
    const bool is_strict = text.find("NaN") == text.npos && text.find("Infinity") == text.npos;
    value = is_strict ? json::parse(text) : json::parse(without_non_finite(text));
    return std::nullopt;
  } catch (const json::exception& error) {
    const auto* at = dynamic_cast<const json::parse_error*>(&error);
    const std::string_view what = error.what();
    const std::size_t dash = what.find(" - ");
    const std::string message(dash == what.npos ? what : what.substr(dash + 3));
    return JsonError{at ? std::min(at->byte, text.size()) : 0, shortened(message, 200)};
  }
}

int line_of(std::string_view text, std::size_t byte) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + byte, '\n'));
}

void read_json_lines(std::string_view text, ResultFile& file) {
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (content.find_first_not_of(" \t\r") == content.npos) continue;
    JsonDocument document{line, {}};
    if (const auto error = parse(content, document.value)) {
      file.warnings.push_back(fmt::format("{}: not valid JSON: {}; this line is left out",
                                          file.at(line), error->message));
    } else {
      file.documents.push_back(std::move(document));
    }
  }
}

void read_json(std::string_view text, ResultFile& file) {
  JsonDocument document;
  const auto error = parse(text, document.value);
  if (!error) {
    file.documents.push_back(std::move(document));
    return;
  }
  json first;
  const std::size_t end = text.find('\n');
  const bool has_lines = end != text.npos && !parse(text.substr(0, end), first);
  if (!has_lines) {
    throw StudyError(fmt::format("{}: not valid JSON: {}; the file is damaged or incomplete",
                                 file.at(line_of(text, error->byte)), error->message));
  }
  read_json_lines(text, file);
}

class YamlReader {
 public:
  json read(const YAML::Node& node, int depth = 0) {
    if (++nodes_ > kMaxYamlNodes || depth > kMaxYamlDepth) {
      throw YAML::Exception(node.Mark(), "the document is too large or nested too deeply");
    }
    json value;
    if (node.IsMap()) {
      value = json::object();
      for (const auto& entry : node) value[entry.first.Scalar()] = read(entry.second, depth + 1);
    } else if (node.IsSequence()) {
      value = json::array();
      for (const auto& item : node) value.push_back(read(item, depth + 1));
    } else if (node.IsScalar()) {
      const auto number = node.Tag() == "!" ? std::nullopt : parse_number(node.Scalar());
      value = number ? json(*number) : json(node.Scalar());
    }
    return value;
  }

 private:
  int nodes_ = 0;
};

void read_yaml(const std::string& text, ResultFile& file) {
  if (text.size() > kMaxYamlBytes) {
    throw StudyError(fmt::format("{}: YAML of more than 64 MiB is not read; export JSON instead",
                                 file.path.string()));
  }
  try {
    file.documents.push_back({1, YamlReader().read(YAML::Load(text))});
  } catch (const YAML::Exception& error) {
    throw StudyError(
        fmt::format("{}: not valid YAML: {}", file.at(error.mark.line + 1), error.msg));
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw StudyError(fmt::format("{}: there is no such file{}", path.string(),
                                 did_you_mean_entry(path, Entry::kFile)));
  }
  if (std::filesystem::file_size(path, error) > kMaxResultBytes) {
    throw StudyError(
        fmt::format("{}: the file is larger than {} MiB; export the summary without the single "
                    "requests",
                    path.string(), kMaxResultBytes >> 20));
  }
  try {
    return read_file(path);
  } catch (const DirectoryError& failed) {
    throw StudyError(failed.what());
  }
}

bool is_sqlite(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string magic(kSqliteMagic.size(), '\0');
  return stream.read(magic.data(), static_cast<std::streamsize>(magic.size())) &&
         magic == kSqliteMagic;
}

}  // namespace

std::string ResultFile::at(int line) const {
  return line == 0 ? path.string() : fmt::format("{}:{}", path.string(), line);
}

bool ResultFile::has_column(std::string_view name) const {
  return !csv.empty() &&
         std::find(csv[0].cells.begin(), csv[0].cells.end(), name) != csv[0].cells.end();
}

const json* ResultFile::first_object() const {
  if (documents.empty()) return nullptr;
  const json& value = documents.front().value;
  if (value.is_object()) return &value;
  return value.is_array() && !value.empty() && value[0].is_object() ? &value[0] : nullptr;
}

ResultFile read_result_file(const std::filesystem::path& path) {
  ResultFile file;
  file.path = path;
  if (is_sqlite(path)) {
    file.is_sqlite = true;
    return file;
  }
  std::string text = text_of(path);
  if (const auto line = first_line_not_text(text)) {
    throw StudyError(
        fmt::format("{}: this is not text (UTF-8 without control characters)", file.at(*line)));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::string extension = path.extension().string();
  if (begin != text.npos && (text[begin] == '{' || text[begin] == '[')) {
    read_json(text, file);
  } else if (extension == ".yaml" || extension == ".yml") {
    read_yaml(text, file);
  } else {
    try {
      file.csv = parse_csv_cells(text);
    } catch (const CsvError& error) {
      throw StudyError(fmt::format("{}: {}", file.at(error.line), error.what()));
    }
    for (CsvRow& row : file.csv) {
      for (std::string& cell : row.cells) cell = trimmed_cell(cell);
    }
  }
  return file;
}

}  // namespace doetune::study
