// A web server for one user of this machine: it answers GET on 127.0.0.1 and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace doetune::cli {

/// A document that is served under a name.
struct WebPage {
  std::string_view type;  ///< media type: "text/html; charset=utf-8"
  std::shared_ptr<const std::string> content;
};

/// A listening TCP socket of 127.0.0.1.
class LoopbackSocket {
 public:
  /// Listens at the port; 0: any that is free. Throws std::system_error, for example if the port is
  /// in use.
  explicit LoopbackSocket(std::uint16_t port);

  std::uint16_t port() const { return port_; }
  const FileDescriptor& descriptor() const { return socket_; }
  void close() { socket_.close(); }

 private:
  FileDescriptor socket_;
  std::uint16_t port_ = 0;
};

/// 128 random bits of the kernel as 32 hexadecimal digits.
std::string random_token();

/// Whether two texts are equal, in a time that depends on their lengths alone.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// Bounds on what clients can take; each of them is a connection that is closed when exceeded.
struct WebLimits {
  double request_s = 10;         ///< for a whole request, and for the wait until it begins
  double response_s = 60;        ///< for a whole response
  std::size_t header = 8192;     ///< bytes of a request; a body is refused
  std::size_t connections = 32;  ///< at a time; more are closed at once
};

/// Serves the pages that `find` returns by name ("" for the first page). All of them are in memory,
/// so no request can name a file.
///
/// - 403 unless the header Host names this machine (127.0.0.1 or localhost, with any port, so that
///   a port can be forwarded by ssh). This is what stops DNS rebinding: a page of another host
///   whose name was made to point to 127.0.0.1.
/// - 405 for any method but GET.
/// - 404 unless the path is /TOKEN/NAME with the token of this server and a name that exists. The
///   token keeps other users of the machine out.
///
/// Responses forbid caching, framing by other sites, reading by other origins, and passing the
/// address on as a referrer.
class LoopbackServer {
 public:
  /// Called by the thread of serve() for each request; null content: there is no such page.
  using Find = std::function<WebPage(std::string_view name)>;

  LoopbackServer(const FileDescriptor& socket, std::string token, Find find, WebLimits limits = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  /// Serves in the calling thread, which handles all connections, until stop() is called.
  void serve();

  /// Ends serve(); any thread may call it.
  void stop();

  /// Whether responses are being sent, to be asked by any thread.
  bool is_answering() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace doetune::cli
