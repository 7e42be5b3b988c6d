#include "runner/servers/server_order.h"

#include <nlohmann/json.hpp>

#include "base/bounded_file.h"
#include "base/untrusted_json.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Reads an object by `read`; empty if it cannot be read.
template <class Read>
auto read_object(const fs::path& file, const Read& read)
    -> std::optional<decltype(read(nlohmann::json()))> {
  const auto text = read_bounded(file, kMaxJsonBytes);
  const auto object = text ? parse_untrusted(*text) : std::nullopt;
  if (!object) return std::nullopt;
  try {
    return read(*object);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // damaged: as if it had not been written
  }
}

std::string text_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

ServerOrder server_order(const study::StudyDirectory& directory, const study::PlannedRun& run) {
  return {run.run, directory.plan_hash, directory.study.run.server,
          plot_placeholders(directory.study, run, std::nullopt)};
}

std::string order_text(const ServerOrder& order) {
  const study::ServerSettings& settings = order.settings;
  return text_of({{"run", order.run},
                  {"plan", order.plan},
                  {"set_up", settings.set_up},
                  {"ready_address", settings.ready_address},
                  {"ready_command", settings.ready_command},
                  {"ready_within_s", settings.ready_within_s},
                  {"tear_down", settings.tear_down},
                  {"values", order.values},
                  {"unwanted_s", order.unwanted_s}});
}

void write_order(const fs::path& directory, const ServerOrder& order) {
  study::write_file_durably(directory / "server.json", order_text(order));
}

std::optional<ServerOrder> read_order(const fs::path& directory) {
  return read_object(directory / "server.json", [](const nlohmann::json& object) {
    ServerOrder order;
    object.at("run").get_to(order.run);
    object.at("plan").get_to(order.plan);
    object.at("set_up").get_to(order.settings.set_up);
    object.at("ready_address").get_to(order.settings.ready_address);
    object.at("ready_command").get_to(order.settings.ready_command);
    object.at("ready_within_s").get_to(order.settings.ready_within_s);
    object.at("tear_down").get_to(order.settings.tear_down);
    object.at("values").get_to(order.values);
    object.at("unwanted_s").get_to(order.unwanted_s);
    return order;
  });
}

void write_address(const fs::path& directory, const ServerAddress& address) {
  study::write_file_durably(directory / "address.json",
                            text_of({{"host", address.host}, {"port", address.port}}));
}

std::optional<ServerAddress> read_address(const fs::path& directory) {
  return read_object(directory / "address.json", [](const nlohmann::json& object) {
    return ServerAddress{object.at("host").get<std::string>(), object.at("port").get<int>()};
  });
}

void write_ready(const fs::path& directory, double set_up_s) {
  study::write_file_durably(directory / "ready", text_of({{"set_up_s", set_up_s}}));
}

std::optional<double> read_ready(const fs::path& directory) {
  return read_object(directory / "ready", [](const nlohmann::json& object) {
    return object.at("set_up_s").get<double>();
  });
}

}  // namespace doetune::runner
