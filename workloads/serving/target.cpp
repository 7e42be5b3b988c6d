#include "workloads/serving/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace doetune::workloads {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::string address_of(const std::string& host, const std::string& port) {
  const bool is_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return fmt::format("http://{}:{}", is_ipv6 ? "[" + host + "]" : host, port);
}

std::string given_url(const std::string& url) {
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    throw UsageError(
        fmt::format("url is '{}'; expected one that begins with http:// or https://", url));
  return url.substr(0, url.find_last_not_of('/') + 1);
}

}  // namespace

std::string server_address(const Request& request) {
  const Inputs& in = request.inputs;
  if (in.has("url")) return given_url(in.text("url"));
  if (in.has("host") && in.has("port"))
    return address_of(in.text("host"), std::to_string(in.integer("port")));
  if (in.has("host") || in.has("port")) throw UsageError("host and port belong together: set both");
  if (request.server) return address_of(request.server->host, std::to_string(request.server->port));
  const auto host = variable("DOETUNE_HOST"), port = variable("DOETUNE_PORT");
  if (host && port) return address_of(*host, *port);
  throw UsageError(
      "no server is given: set url (http://HOST:PORT), or host and port, or the environment "
      "variables DOETUNE_HOST and DOETUNE_PORT");
}

Target target_of(const Inputs& inputs, const std::string& url) {
  Target target{url, {"Content-Type: application/json"}, inputs.number("request_timeout")};
  if (!inputs.has("api_key_variable")) return target;
  const std::string name = inputs.text("api_key_variable");
  const auto key = variable(name);
  if (!key)
    throw UsageError(fmt::format(
        "api_key_variable names the environment variable '{}', which is not set", name));
  if (std::ranges::any_of(*key, [](unsigned char c) { return c < ' '; }))
    throw UsageError(fmt::format("the key in the environment variable '{}' is not one line", name));
  target.headers.push_back("Authorization: Bearer " + *key);
  return target;
}

}  // namespace doetune::workloads
