#include "study/file/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "base/nearest_name.h"
#include "base/text.h"

namespace doetune::study {
namespace {

using Kind = Schema::Kind;

/// Limits the nodes visited: aliases can make a small file very large.
constexpr int kMaxNodes = 100'000;

std::string shown(const std::string& text) {
  constexpr std::size_t kMax = 60;
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
}

std::string quoted_or_type(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "'" + shown(node.Scalar()) + "'";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

/// The first required key or, without one, the first key.
const std::string& first_key(const Schema& schema) {
  const auto required = std::find_if(schema.keys.begin(), schema.keys.end(),
                                     [](const SchemaKey& key) { return key.required; });
  return (required == schema.keys.end() ? schema.keys.front() : *required).name;
}

/// Where keys may stand, as in "run.timeout" or "responses.NAME.goal"; of keys of one name the
/// first.
using KeyPaths = std::map<std::string, std::string>;

void add_paths(const Schema& schema, const std::string& path, KeyPaths& paths) {
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const SchemaKey& key : schema.keys) {
    paths.emplace(key.name, prefix + key.name);
    add_paths(key.value, prefix + key.name, paths);
  }
  for (const Schema& alternative : schema.alternatives) {
    add_paths(alternative, schema.kind == Kind::kMap ? prefix + "NAME" : path, paths);
  }
}

const KeyPaths& study_paths() {
  static const KeyPaths paths = [] {
    KeyPaths found;
    add_paths(study_schema(), "", found);
    return found;
  }();
  return paths;
}

/// For an unknown key: the same name elsewhere in the study file, one that is near among `valid`,
/// or one that is near elsewhere; else all that are valid.
std::string meant(const std::string& name, const std::vector<std::string>& valid) {
  const auto elsewhere = [](const std::string& key) {
    return fmt::format("; did you mean {}?", study_paths().at(key));
  };
  if (study_paths().contains(name)) return elsewhere(name);
  if (const std::string near = did_you_mean(name, valid); !near.empty()) return near;
  std::vector<std::string> names;
  for (const auto& [key, path] : study_paths()) names.push_back(key);
  const auto near = nearest_name(name, names);
  return near ? elsewhere(*near) : did_you_mean_or_list(name, valid);
}

std::string expectation(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kText:
      return "text";
    case Kind::kNumber:
      if (std::isfinite(schema.maximum)) {
        return fmt::format("a number from {} to {}", schema.minimum, schema.maximum);
      }
      return std::isfinite(schema.minimum) ? fmt::format("a number of at least {}", schema.minimum)
                                           : "a number";
    case Kind::kInteger:
      return fmt::format("an integer from {} to {}", schema.minimum, schema.maximum);
    case Kind::kBoolean:
      return "true or false";
    case Kind::kDuration:
      return "a time above 0, such as 30 s, 10 min or 2 h";
    case Kind::kEnum:
      return fmt::format("one of {}", fmt::join(schema.words, ", "));
    case Kind::kScalar:
      return "a number or text";
    case Kind::kList:
      return "a list";
    case Kind::kObject:
      return fmt::format("a mapping such as {{{}: ...}}", first_key(schema));
    case Kind::kMap:
      return "a mapping (name: value)";
    case Kind::kOneOf:
      break;
  }
  return fmt::format("{} or {}", expectation(schema.alternatives.front()),
                     expectation(schema.alternatives.back()));
}

/// Records where the last document begins.
struct DocumentStart : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark& mark) override { begin = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  YAML::Mark begin;
};

/// The position of a second document. YAML::LoadAll does not terminate for some texts, such as
/// "\"a\",b", in which yaml-cpp finds infinitely many empty documents.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return std::nullopt;
  return start.begin;
}

/// The YAML type of a kind of value.
YAML::NodeType::value yaml_type(Kind kind) {
  switch (kind) {
    case Kind::kList:
      return YAML::NodeType::Sequence;
    case Kind::kObject:
    case Kind::kMap:
      return YAML::NodeType::Map;
    default:
      return YAML::NodeType::Scalar;
  }
}

/// The likely cause of a syntax error; `problem` is the parser's message.
std::string yaml_hint(const std::string& text, int line, const std::string& problem) {
  std::istringstream lines(text);
  std::string content;
  for (int i = 0; i <= line && std::getline(lines, content); ++i) continue;
  const std::string indent = content.substr(0, content.find_first_not_of(" \t"));
  if (indent.find('\t') != std::string::npos)
    return "; indent with spaces: YAML does not allow tabs";
  const auto opened =
      std::count_if(text.begin(), text.end(), [](char c) { return c == '{' || c == '['; });
  const auto closed =
      std::count_if(text.begin(), text.end(), [](char c) { return c == '}' || c == ']'; });
  if (opened > closed) return "; a { or [ is not closed";
  if (opened < closed) return "; a } or ] closes nothing";
  // yaml-cpp's message for a line that does not belong to any block before it.
  const bool outside = problem.starts_with("end of ") && problem.ends_with(" not found");
  return outside ? "; the indentation of this line does not match" : "";
}

class Checker {
 public:
  explicit Checker(const std::filesystem::path& file) : file_(file) {}

  void check(const YAML::Node& node, const Schema& schema, const std::string& what) {
    if (++visited_ > kMaxNodes) {
      fail_at(file_, node, fmt::format("more than {} values", kMaxNodes));
    }
    if (schema.kind == Kind::kOneOf) return check_one_of(node, schema, what);
    if (node.Type() != yaml_type(schema.kind)) unexpected(node, schema, what);
    switch (schema.kind) {
      case Kind::kList:
        return check_list(node, schema, what);
      case Kind::kObject:
        return check_object(node, schema, what);
      case Kind::kMap:
        return check_map(node, schema, what);
      default:
        return check_scalar(node, schema, what);
    }
  }

 private:
  [[noreturn]] void unexpected(const YAML::Node& node, const Schema& schema,
                               const std::string& what) {
    fail_at(
        file_, node,
        fmt::format("{}: expected {}, found {}", what, expectation(schema), quoted_or_type(node)));
  }

  void check_one_of(const YAML::Node& node, const Schema& schema, const std::string& what) {
    for (const Schema& alternative : schema.alternatives) {
      if (node.Type() == yaml_type(alternative.kind)) return check(node, alternative, what);
    }
    unexpected(node, schema, what);
  }

  void check_list(const YAML::Node& node, const Schema& schema, const std::string& what) {
    int index = 0;
    for (const YAML::Node& item : node) {
      check(item, schema.alternatives.front(), fmt::format("{}[{}]", what, ++index));
    }
  }

  /// The text of a key, after checking that it is a scalar and not a duplicate.
  std::string key_text(const YAML::Node& key, std::set<std::string>& seen,
                       const std::string& what) {
    if (!key.IsScalar()) fail_at(file_, key, fmt::format("{}: a key must be a single name", what));
    if (!seen.insert(key.Scalar()).second) {
      fail_at(file_, key, fmt::format("{}: '{}' appears twice", what, shown(key.Scalar())));
    }
    return key.Scalar();
  }

  void check_object(const YAML::Node& node, const Schema& schema, const std::string& what) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string name = key_text(entry.first, seen, what);
      const auto key = std::find_if(schema.keys.begin(), schema.keys.end(),
                                    [&](const SchemaKey& k) { return k.name == name; });
      if (key == schema.keys.end()) unknown_key(entry.first, schema, what);
      check(entry.second, key->value, what == "study file" ? name : what + "." + name);
    }
    for (const SchemaKey& key : schema.keys) {
      if (key.required && seen.count(key.name) == 0) {
        fail_at(file_, node,
                fmt::format("{}: '{}' is missing ({})", what, key.name, key.description));
      }
    }
  }

  [[noreturn]] void unknown_key(const YAML::Node& key, const Schema& schema,
                                const std::string& what) {
    std::vector<std::string> names;
    for (const SchemaKey& known : schema.keys) names.push_back(known.name);
    fail_at(file_, key,
            fmt::format("{}: unknown key '{}'{}", what, shown(key.Scalar()),
                        meant(key.Scalar(), names)));
  }

  void check_map(const YAML::Node& node, const Schema& schema, const std::string& what) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string name = key_text(entry.first, seen, what);
      if (schema.identifier_names && !is_identifier(name)) {
        fail_at(file_, entry.first,
                fmt::format("{}: '{}' is not a valid name (a letter, then letters, digits and _)",
                            what, shown(name)));
      }
      check(entry.second, schema.alternatives.front(), what + "." + shown(name));
    }
  }

  void check_scalar(const YAML::Node& node, const Schema& schema, const std::string& what) {
    const std::string& text = node.Scalar();
    // YAML escapes can produce characters that are not allowed in the file itself.
    if (!is_plain_text(text)) fail_at(file_, node, fmt::format("{}: control characters", what));
    const auto number = parse_number(text);
    bool fits = true;
    switch (schema.kind) {
      case Kind::kNumber:
        fits = number && *number >= schema.minimum && *number <= schema.maximum;
        break;
      case Kind::kInteger:
        fits = number && *number == std::floor(*number) && *number >= schema.minimum &&
               *number <= schema.maximum;
        break;
      case Kind::kBoolean:
        fits = text == "true" || text == "false";
        break;
      case Kind::kDuration:
        fits = parse_duration(text).has_value();
        break;
      case Kind::kEnum:
        return check_word(node, schema, what);
      default:
        break;
    }
    if (!fits) unexpected(node, schema, what);
  }

  void check_word(const YAML::Node& node, const Schema& schema, const std::string& what) {
    const std::string& text = node.Scalar();
    if (std::find(schema.words.begin(), schema.words.end(), text) != schema.words.end()) return;
    fail_at(file_, node,
            fmt::format("{}: '{}' is not known{}", what, shown(text),
                        did_you_mean_or_list(text, schema.words)));
  }

  const std::filesystem::path& file_;
  int visited_ = 0;
};

bool holds(const YAML::Node& node, const char* key) { return node && node[key]; }

/// Whether the document is a mapping in braces, as JSON is.
bool is_flow_mapping(const std::string& text) {
  const YAML::Node root = YAML::Load(text);
  return root.IsMap() && root.Style() == YAML::EmitterStyle::Flow;
}

}  // namespace

[[noreturn]] void fail_at(const std::filesystem::path& file, const YAML::Node& node,
                          const std::string& message) {
  const YAML::Mark mark = node.Mark();
  throw StudyError(
      fmt::format("{}:{}:{}: {}", file.string(), mark.line + 1, mark.column + 1, message));
}

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

void add_key(std::string& text, const std::string& key, const std::string& value,
             const std::string& why) {
  if (is_flow_mapping(text)) {
    text.insert(text.rfind('}'), fmt::format(", {}: {}", key, value));
    return;
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += fmt::format("{}: {}  # {}\n", key, value, why);
}

std::optional<double> parse_duration(const std::string& text) {
  const auto digits = text.find_last_of("0123456789.");
  if (digits == std::string::npos) return std::nullopt;
  const auto number = parse_number(text.substr(0, digits + 1));
  const auto unit_at = text.find_first_not_of(' ', digits + 1);
  const std::string unit = unit_at == std::string::npos ? "s" : text.substr(unit_at);
  if (!number || *number <= 0) return std::nullopt;
  if (unit == "ms") return *number / 1000;
  if (unit == "s") return *number;
  if (unit == "min") return *number * 60;
  if (unit == "h") return *number * 3600;
  return std::nullopt;
}

YAML::Node load_checked_yaml(const std::string& text, const std::filesystem::path& file,
                             const Schema& schema) {
  if (const auto line = first_line_not_text(text)) {
    throw StudyError(fmt::format("{}:{}:1: this is not text (UTF-8 without control characters)",
                                 file.string(), *line));
  }
  YAML::Node root;
  try {
    root = YAML::Load(text);
    if (const auto mark = second_document(text)) {
      throw StudyError(
          fmt::format("{}:{}:{}: a second document begins here; a study file has only one",
                      file.string(), mark->line + 1, mark->column + 1));
    }
  } catch (const YAML::Exception& error) {
    throw StudyError(fmt::format("{}:{}:{}: {}{}", file.string(), error.mark.line + 1,
                                 error.mark.column + 1, error.msg,
                                 yaml_hint(text, error.mark.line, error.msg)));
  }
  if (!root.IsDefined() || root.IsNull()) {
    throw StudyError(
        fmt::format("{}:1:1: the file is empty; `doetune init` writes a template", file.string()));
  }
  Checker(file).check(root, schema, "study file");
  return root;
}

std::string text_at(const YAML::Node& node, const char* key, const std::string& otherwise) {
  return holds(node, key) ? node[key].Scalar() : otherwise;
}

std::optional<double> number_at(const YAML::Node& node, const char* key) {
  return holds(node, key) ? parse_number(node[key].Scalar()) : std::nullopt;
}

std::optional<int> whole_at(const YAML::Node& node, const char* key) {
  const auto number = number_at(node, key);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

std::optional<double> seconds_at(const YAML::Node& node, const char* key) {
  return holds(node, key) ? parse_duration(node[key].Scalar()) : std::nullopt;
}

std::vector<std::string> texts(const YAML::Node& list) {
  std::vector<std::string> result;
  for (const YAML::Node& item : list) result.push_back(item.Scalar());
  return result;
}

}  // namespace doetune::study
