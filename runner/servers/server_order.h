// Files in a server's directory, through which doetune and the doetune-attempt on the server's host
// communicate: what to set up for a whole plot, and the state of the server.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runner/attempts/request.h"
#include "runner/attempts/slots.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// A server is reached from its own host alone, where its runs are executed.
inline constexpr const char* kServerHost = "127.0.0.1";

/// How often doetune touches DIRECTORY/wanted while it wants a server on another host, and how long
/// that host keeps the server without it.
inline constexpr double kWanted_s = 10;
inline constexpr double kUnwanted_s = 120;

/// What server.json says. The command lines are those of the study, with their placeholders:
/// which port is free is only known on the server's host.
struct ServerOrder {
  int run = 0;       ///< for which it is set up
  std::string plan;  ///< hash of the plan
  study::ServerSettings settings;
  Placeholders values;  ///< all but {host} and {port}
  double unwanted_s = kUnwanted_s;
};

ServerOrder server_order(const study::StudyDirectory& directory, const study::PlannedRun& run);

/// The content of server.json.
std::string order_text(const ServerOrder& order);

/// Throws study::DirectoryError.
void write_order(const std::filesystem::path& directory, const ServerOrder& order);

/// Empty if there is no order, or a damaged one.
std::optional<ServerOrder> read_order(const std::filesystem::path& directory);

/// The file address.json: {"host", "port"}, written before the server starts.
void write_address(const std::filesystem::path& directory, const ServerAddress& address);
std::optional<ServerAddress> read_address(const std::filesystem::path& directory);

/// The file ready: the time to set the server up, in seconds, written when it can be used.
void write_ready(const std::filesystem::path& directory, double set_up_s);
std::optional<double> read_ready(const std::filesystem::path& directory);

}  // namespace doetune::runner
