#include "study/directory/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/parallel.h"
#include "study/directory/directory.h"
#include "study/directory/matching_records.h"
#include "study/directory/restore.h"

namespace doetune::study {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order of keys; used for writing only, as
                                             // it is slow to read

constexpr int kVersion = 1;
constexpr std::string_view kChecksumField = ",\"crc\":\"";
constexpr std::size_t kChecksumLength = kChecksumField.size() + 8 + 2;  // 8 digits, then "}
constexpr std::string_view kRecordStart = "{\"run\":";
constexpr std::string_view kSheetStart = "{\"sheet\":";

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what) {
  throw DirectoryError(fmt::format("{}: {}", file.string(), what));
}

std::string checksum(std::string_view text) {
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return fmt::format("{:08x}", ::crc32_z(0, bytes, text.size()));
}

/// The object as a line of the journal: its text, the checksum of the text, the closing brace.
std::string sealed(const OrderedJson& object) {
  std::string text = object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  text.pop_back();
  return fmt::format("{}{}{}\"}}\n", text, kChecksumField, checksum(text));
}

/// The object of a line without its line end; empty if the checksum does not match.
std::optional<Json> unsealed(std::string_view line) {
  if (line.size() <= kChecksumLength || !line.ends_with("\"}")) return std::nullopt;
  const std::string_view text = line.substr(0, line.size() - kChecksumLength);
  const std::string_view seal = line.substr(text.size());
  if (!seal.starts_with(kChecksumField)) return std::nullopt;
  if (seal.substr(kChecksumField.size(), 8) != checksum(text)) return std::nullopt;
  Json object = Json::parse(std::string(text) + "}", nullptr, false);
  if (!object.is_object()) return std::nullopt;
  return object;
}

OrderedJson header(const std::string& study, const std::string& plan_hash) {
  return {{"doetune_journal", kVersion}, {"study", study}, {"plan", plan_hash}};
}

OrderedJson number_or_null(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson();
}

OrderedJson to_json(const RunRecord& record) {
  OrderedJson object{
      {"run", record.run}, {"attempt", record.attempt}, {"status", run_status_name(record.status)}};
  if (!record.settings.empty()) object["settings"] = record.settings;
  if (!record.reason.empty()) object["reason"] = record.reason;
  if (record.same_as) object["same_as"] = *record.same_as;
  if (record.in_set_up) object["in_set_up"] = true;
  if (record.set_up_s) object["set_up_s"] = *record.set_up_s;
  if (record.exit_code) object["exit_code"] = *record.exit_code;
  object["host"] = record.host;
  if (!record.gpu.empty()) object["gpu"] = record.gpu;
  if (!record.cpus.empty()) object["cpus"] = record.cpus;
  object["start"] = record.start;
  object["duration_s"] = record.duration_s;
  object["responses"] = record.responses;
  for (const auto& [name, range] : record.bounds) {
    object["bounds"][name] = {number_or_null(range.low), number_or_null(range.high)};
  }
  if (!record.notes.empty()) object["notes"] = record.notes;
  for (const auto& [name, repeats] : record.repeats) {
    object["repeats"][name] = {repeats.count, repeats.mean, repeats.variance};
  }
  if (!record.half_width.empty()) object["half_width"] = record.half_width;
  if (record.steady) object["steady"] = *record.steady;
  if (!record.telemetry.empty()) object["telemetry"] = record.telemetry;
  if (!record.bottleneck.empty()) object["bottleneck"] = record.bottleneck;
  if (!record.evidence.empty()) object["evidence"] = record.evidence;
  if (!record.flags.empty()) object["flags"] = record.flags;
  if (!record.conditions.empty()) object["conditions"] = record.conditions;
  return object;
}

OrderedJson to_json(const KeptSheet& sheet) {
  return {{"sheet", sheet.hash},       {"plan", sheet.plan},
          {"study", sheet.study},      {"working_directory", sheet.working_directory},
          {"notes", sheet.notes},      {"study.yaml", sheet.study_yaml},
          {"plan.csv", sheet.plan_csv}};
}

/// A map from names to numbers; empty if the key is missing.
std::map<std::string, double> numbers_at(const Json& object, const char* key) {
  return object.contains(key) ? object.at(key).get<std::map<std::string, double>>()
                              : std::map<std::string, double>();
}

/// Reads the fields on the quality of a measurement; records of older versions lack them.
void read_quality(const Json& object, RunRecord& record) {
  if (object.contains("repeats")) {
    for (const auto& [name, values] : object.at("repeats").items()) {
      record.repeats[name] = {values.at(0).get<int>(), values.at(1).get<double>(),
                              values.at(2).get<double>()};
    }
  }
  record.half_width = numbers_at(object, "half_width");
  if (object.contains("steady")) record.steady = object.at("steady").get<bool>();
  record.telemetry = numbers_at(object, "telemetry");
  record.bottleneck = object.value("bottleneck", "");
  record.evidence = object.value("evidence", "");
  record.flags = object.value("flags", std::vector<std::string>());
  record.conditions = object.value("conditions", "");
}

/// Throws Json::exception for an object that is not a record.
RunRecord record_from_json(const Json& object) {
  RunRecord record;
  record.run = object.at("run").get<int>();
  record.attempt = object.at("attempt").get<int>();
  const auto status = run_status_from_name(object.at("status").get_ref<const std::string&>());
  if (!status) throw Json::other_error::create(501, "unknown status", &object);
  record.status = *status;
  record.settings = object.value("settings", record.settings);
  record.reason = object.value("reason", "");
  if (object.contains("same_as")) record.same_as = object.at("same_as").get<int>();
  record.in_set_up = object.value("in_set_up", false);
  if (object.contains("set_up_s")) record.set_up_s = object.at("set_up_s").get<double>();
  if (object.contains("exit_code")) record.exit_code = object.at("exit_code").get<int>();
  record.host = object.value("host", "");
  record.gpu = object.value("gpu", "");
  record.cpus = object.value("cpus", "");
  record.start = object.value("start", "");
  record.duration_s = object.value("duration_s", 0.0);
  for (const auto& [name, value] : object.at("responses").items()) {
    record.responses[name] = value.get<double>();
  }
  if (object.contains("bounds")) {
    for (const auto& [name, ends] : object.at("bounds").items()) {
      Range& range = record.bounds[name];
      if (!ends.at(0).is_null()) range.low = ends.at(0).get<double>();
      if (!ends.at(1).is_null()) range.high = ends.at(1).get<double>();
    }
  }
  if (object.contains("notes")) {
    for (const auto& [name, value] : object.at("notes").items()) {
      record.notes[name] = value.get<std::string>();
    }
  }
  read_quality(object, record);
  return record;
}

/// The record in a line; empty if the line is damaged.
std::optional<RunRecord> read_record(std::string_view line) {
  const auto object = unsealed(line);
  if (!object) return std::nullopt;
  try {
    return record_from_json(*object);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// The run sheet in a line; empty if the line is damaged.
std::optional<KeptSheet> read_sheet(std::string_view line) {
  const auto object = unsealed(line);
  if (!object) return std::nullopt;
  try {
    return KeptSheet{object->at("sheet").get<std::string>(),
                     object->at("plan").get<std::string>(),
                     object->at("study").get<std::string>(),
                     object->at("working_directory").get<std::string>(),
                     object->at("notes").get<std::vector<std::string>>(),
                     object->at("study.yaml").get<std::string>(),
                     object->at("plan.csv").get<std::string>()};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// The position in a damaged line where the next record or sheet may begin.
std::size_t next_start(std::string_view line, std::size_t from) {
  return std::min(line.find(kRecordStart, from), line.find(kSheetStart, from));
}

/// Recovers intact records and sheets from a damaged line, which may be several whose line ends
/// were damaged.
void salvage(std::string_view line, JournalContent& content) {
  for (std::size_t begin = next_start(line, 0); begin != std::string_view::npos;) {
    const std::size_t next = next_start(line, begin + 1);
    const std::string_view piece = line.substr(begin, next - begin);
    if (const std::size_t end = piece.rfind("\"}"); end != std::string_view::npos) {
      const std::string_view object = piece.substr(0, end + 2);
      if (auto record = read_record(object)) content.records.push_back(*record);
      if (auto sheet = read_sheet(object)) content.sheet = std::move(sheet);
    }
    begin = next;
  }
}

/// A journal as read, with the size that append needs.
struct Loaded {
  JournalContent content;
  std::size_t good_size = 0;  ///< size without an incomplete last line
};

/// Reads the first line. If it is damaged, the records after it are still used.
void load_header(const std::filesystem::path& file, std::string_view line,
                 JournalContent& content) {
  auto header = unsealed(line);
  const bool is_missing = line.starts_with(kRecordStart) || line.starts_with(kSheetStart);
  if (!header || is_missing) {
    content.warnings.push_back(fmt::format("{}:1: damaged header", file.string()));
    salvage(line, content);
    return;
  }
  const Json version = header->value("doetune_journal", Json());
  if (!version.is_number_integer())
    fail(file.string() + ":1", "not a doetune journal; move it away");
  if (version.get<int>() > kVersion) {
    fail(file, fmt::format("journal of version {}, written by a newer doetune; this one reads "
                           "version {}. Use the newer doetune",
                           version.get<int>(), kVersion));
  }
  const Json plan = header->value("plan", Json());
  if (plan.is_string()) {
    content.plan = plan.get<std::string>();
  } else {
    content.warnings.push_back(fmt::format("{}:1: damaged header", file.string()));
  }
}

/// The complete lines of a text, without their line ends.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

/// The records in lines; empty for a damaged line. Many lines are parsed in parallel.
std::vector<std::optional<RunRecord>> read_records(const std::vector<std::string_view>& lines) {
  constexpr std::size_t kLinesATask = 256;
  std::vector<std::optional<RunRecord>> records(lines.size());
  const std::size_t tasks = (lines.size() + kLinesATask - 1) / kLinesATask;
  parallel_for(static_cast<int>(tasks), tasks > 1 ? 0 : 1, [&](int task) {
    const std::size_t begin = static_cast<std::size_t>(task) * kLinesATask;
    for (std::size_t i = begin; i < std::min(begin + kLinesATask, lines.size()); ++i) {
      records[i] = read_record(lines[i]);
    }
  });
  return records;
}

Loaded load(const std::filesystem::path& file, std::string_view text) {
  Loaded loaded;
  std::vector<std::string_view> lines = whole_lines(text);  // without an incomplete last one
  for (const std::string_view line : lines) loaded.good_size += line.size() + 1;
  if (lines.empty()) return loaded;
  load_header(file, lines.front(), loaded.content);
  lines.erase(lines.begin());
  auto records = read_records(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (records[i]) {
      loaded.content.records.push_back(std::move(*records[i]));
      continue;
    }
    if (auto sheet = read_sheet(lines[i])) {
      loaded.content.sheet = std::move(sheet);
      continue;
    }
    loaded.content.warnings.push_back(
        fmt::format("{}:{}: damaged line, ignored", file.string(), i + 2));
    salvage(lines[i], loaded.content);
  }
  if (!loaded.content.plan && loaded.content.sheet) {
    loaded.content.plan = loaded.content.sheet->plan;
  }
  if (!loaded.content.plan && loaded.content.records.empty()) {
    fail(file.string() + ":1", "not a doetune journal; move it away");
  }
  return loaded;
}

/// Throws DirectoryError if the journal belongs to another plan.
void check_plan(const std::filesystem::path& file, const JournalContent& content,
                const std::string& plan_hash) {
  if (!content.plan || *content.plan == plan_hash) return;
  fail(file,
       "its runs do not belong to the plan in study.yaml and plan.csv; restore these files, or "
       "plan into a new directory" +
           restore_advice(file.parent_path()));
}

/// Flushes the directory, which makes the name of a new file durable.
void sync_directory_of(const std::filesystem::path& file) {
  try {
    sync_directory(file.parent_path());
  } catch (const WriteError& error) {
    fail(file, "cannot be written: " + error.reason);
  }
}

}  // namespace

Journal::Journal(const std::filesystem::path& file, const std::string& study,
                 const std::string& plan_hash)
    : file_(file) {
  const std::string text = std::filesystem::exists(file) ? read_file(file) : "";
  Loaded loaded = load(file, text);
  const std::string first_line = sealed(header(study, plan_hash));
  if (loaded.good_size == 0 && !first_line.starts_with(text)) {
    fail(file, "not a doetune journal of this plan; move it away");
  }
  check_plan(file, loaded.content, plan_hash);
  content_ = std::move(loaded.content);
  size_ = static_cast<std::int64_t>(loaded.good_size);
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(file, fmt::format("cannot be written: {}", std::strerror(errno)));
  try {
    if (::ftruncate(descriptor_, size_) != 0) {
      fail(file, fmt::format("cannot be written: {}", std::strerror(errno)));
    }
    if (size_ == 0) {
      append_line(first_line);
      sync_directory_of(file);
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::Journal(const StudyDirectory& directory)
    : Journal(directory.journal(), directory.study.name, directory.plan_hash) {
  leave_out_others(directory, content_);
  check_sheet(directory, content_);
  if (KeptSheet sheet = sheet_of(directory); content_.sheet != sheet) keep(std::move(sheet));
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::append(const RunRecord& record) {
  if (!still_names(file_, descriptor_)) {
    fail(file_,
         "was moved or deleted while runs were in progress; put it back, or let `doetune run` "
         "rebuild it from the directories of the attempts");
  }
  append_line(sealed(to_json(record)));
  content_.records.push_back(record);
}

void Journal::keep(KeptSheet sheet) {
  append_line(sealed(to_json(sheet)));
  content_.sheet = std::move(sheet);
}

void Journal::append_line(const std::string& line) {
  ssize_t written = 0;
  do {
    written = ::write(descriptor_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size()) && ::fdatasync(descriptor_) == 0) {
    size_ += written;
    return;
  }
  const int error = written >= 0 && written < static_cast<ssize_t>(line.size()) ? ENOSPC : errno;
  if (::ftruncate(descriptor_, size_) != 0) {
    fail(file_, fmt::format("cannot be written ({}), nor truncated to its last record",
                            std::strerror(error)));
  }
  fail(file_, fmt::format("cannot be written: {}", std::strerror(error)));
}

JournalContent read_journal(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return load(file, read_file(file)).content;
}

JournalContent read_journal(const StudyDirectory& directory) {
  JournalContent content = read_journal(directory.journal());
  check_plan(directory.journal(), content, directory.plan_hash);
  leave_out_others(directory, content);
  return content;
}

void write_journal(const StudyDirectory& directory, const std::vector<RunRecord>& records) {
  std::string text = sealed(header(directory.study.name, directory.plan_hash));
  text += sealed(to_json(sheet_of(directory)));
  for (const RunRecord& record : records) text += sealed(to_json(record));
  write_file_durably(directory.journal(), text);
}

}  // namespace doetune::study
