#include "workloads/training/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "base/hash.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCheckpointMagic =
    0x3150434E5254444F;  // "ODTRNCP1"; changes with the format
constexpr std::size_t kWord = sizeof(std::uint64_t);

void append_word(std::string& to, std::uint64_t word) {
  to.append(reinterpret_cast<const char*>(&word), kWord);
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, kWord);
  return word;
}

std::array<std::span<float>, 3> blocks_of(TrainableNetwork& network) {
  return {network.parameters(), network.momentum_block(), network.statistics()};
}

Json json_of(const TrainingState& state) {
  Json epochs = Json::array();
  for (const Epoch& epoch : state.epochs)
    epochs.push_back({epoch.accuracy, epoch.loss, epoch.train_loss, epoch.time_s});
  Json json = {{"chosen", state.chosen}, {"epochs", epochs},
               {"steps", state.steps},   {"images", state.images},
               {"time_s", state.time_s}, {"selection_s", state.selection_s}};
  if (state.diverged_at_step) json["diverged_at_step"] = *state.diverged_at_step;
  return json;
}

TrainingState state_of(const Json& json) {
  TrainingState state;
  state.chosen = json.at("chosen").get<std::vector<std::int64_t>>();
  for (const Json& epoch : json.at("epochs"))
    state.epochs.push_back({epoch.at(0), epoch.at(1), epoch.at(2), epoch.at(3)});
  state.steps = json.at("steps");
  state.images = json.at("images");
  state.time_s = json.at("time_s");
  state.selection_s = json.at("selection_s");
  if (json.contains("diverged_at_step")) state.diverged_at_step = json.at("diverged_at_step");
  return state;
}

std::string read_whole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError("cannot read the checkpoint " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Splits a file's contents into the JSON text and the floats.
std::pair<Json, std::string_view> parts_of(std::string_view bytes, const fs::path& file) {
  const auto refuse = [&](const char* why) -> std::pair<Json, std::string_view> {
    throw UsageError(
        fmt::format("the checkpoint {} {}; delete it to start training again", file.string(), why));
  };
  if (bytes.size() < 3 * kWord || word_at(bytes, 0) != kCheckpointMagic)
    return refuse("is not a checkpoint");
  const std::string_view body = bytes.substr(0, bytes.size() - kWord);
  if (fnv1a(body) != word_at(bytes, body.size())) return refuse("is truncated or damaged");
  const std::uint64_t length = word_at(bytes, kWord);
  if (length > body.size() - 2 * kWord) return refuse("is damaged");
  return {Json::parse(body.substr(2 * kWord, length)), body.substr(2 * kWord + length)};
}

}  // namespace

fs::path checkpoint_file(const fs::path& directory, const Json& settings) {
  return directory / fmt::format("{:016x}.checkpoint", fnv1a(settings.dump()));
}

void save_checkpoint(const fs::path& file, const Json& settings, const TrainingState& state,
                     TrainableNetwork& network) {
  const std::string text = Json{{"settings", settings}, {"state", json_of(state)}}.dump();
  std::string bytes;
  append_word(bytes, kCheckpointMagic);
  append_word(bytes, text.size());
  bytes += text;
  for (const std::span<const float> block : blocks_of(network))
    bytes.append(reinterpret_cast<const char*>(block.data()), block.size_bytes());
  append_word(bytes, fnv1a(bytes));
  remove_left_behind(file);
  replace_file(file, bytes, Durability::on_disk);
}

std::optional<TrainingState> load_checkpoint(const fs::path& file, const Json& settings,
                                             TrainableNetwork& network) {
  if (!fs::exists(file)) return std::nullopt;
  const std::string bytes = read_whole(file);
  auto [json, floats] = parts_of(bytes, file);
  std::size_t expected = 0;
  for (const auto block : blocks_of(network)) expected += block.size_bytes();
  if (json.at("settings") != settings || floats.size() != expected)
    throw UsageError("the checkpoint " + file.string() +
                     " is of a training run with other settings");
  for (const auto block : blocks_of(network)) {
    std::memcpy(block.data(), floats.data(), block.size_bytes());
    floats.remove_prefix(block.size_bytes());
  }
  network.changed();
  TrainingState state = state_of(json.at("state"));
  state.resumed_after_epochs = std::ssize(state.epochs);
  return state;
}

}  // namespace doetune::workloads
