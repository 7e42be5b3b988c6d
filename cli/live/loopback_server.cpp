#include "cli/live/loopback_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

namespace doetune::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr int kBacklog = 16;

/// Of every response. The pages contain their scripts and styles, and ask only their own server.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: "
    "blob:; connect-src 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'";

std::chrono::nanoseconds duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

beast::string_view view(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

/// Whether a Host header names this machine, with any port.
bool is_this_machine(beast::string_view host) {
  const beast::string_view name = host.substr(0, host.find(':'));
  return name == "127.0.0.1" || beast::iequals(name, "localhost");
}

Response plain(const Request& request, http::status status) {
  Response response(status, request.version());
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = std::string(http::obsolete_reason(status)) + "\n";
  return response;
}

Response page_for(const Request& request, const std::string& token,
                  const LoopbackServer::Find& find) {
  std::string_view path = view(request.target());
  path = path.substr(0, path.find('?'));
  const std::string start = "/" + token + "/";
  if (!equal_in_constant_time(path.substr(0, start.size()), start)) {
    return plain(request, http::status::not_found);
  }
  const WebPage page = find(path.substr(start.size()));
  if (!page.content) return plain(request, http::status::not_found);
  Response response(http::status::ok, request.version());
  response.set(http::field::content_type, view(page.type));
  response.body() = *page.content;
  return response;
}

Response response_to(const Request& request, const std::string& token,
                     const LoopbackServer::Find& find) {
  if (request.count(http::field::host) != 1 || !is_this_machine(request[http::field::host])) {
    return plain(request, http::status::forbidden);
  }
  if (request.method() != http::verb::get) {
    Response response = plain(request, http::status::method_not_allowed);
    response.set(http::field::allow, "GET");
    return response;
  }
  return page_for(request, token, find);
}

void add_headers(Response& response) {
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", view(kContentPolicy));
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Referrer-Policy", "no-referrer");
  response.set("X-Content-Type-Options", "nosniff");
}

/// What all connections share.
struct Service {
  std::string token;
  LoopbackServer::Find find;
  WebLimits limits;
  std::size_t open = 0;            ///< connections
  std::atomic<int> answering = 0;  ///< of these, those to which a response is sent
};

/// One connection: reads a request, answers it, and reads the next. Whatever goes wrong ends it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, Service& service)
      : stream_(std::move(socket)), buffer_(service.limits.header), service_(service) {
    ++service_.open;
  }
  ~Connection() { --service_.open; }

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(service_.limits.header));
    stream_.expires_after(duration(service_.limits.request_s));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code failed, std::size_t) {
                       if (!failed) self->answer();
                     });
  }

 private:
  void answer() {
    ++service_.answering;
    const Request& request = parser_->get();
    response_ = response_to(request, service_.token, service_.find);
    response_.keep_alive(request.keep_alive());
    add_headers(response_);
    response_.prepare_payload();
    stream_.expires_after(duration(service_.limits.response_s));
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code failed, std::size_t) {
                        --self->service_.answering;
                        if (!failed && self->response_.keep_alive()) self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
  Service& service_;
};

}  // namespace

LoopbackSocket::LoopbackSocket(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  const int yes = 1;  // the port of a doetune that has just ended can be used
  if (!socket_ || ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      ::bind(socket_.get(), any, size) != 0 || ::listen(socket_.get(), kBacklog) != 0 ||
      ::getsockname(socket_.get(), any, &size) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  port_ = ntohs(address.sin_port);
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "random numbers");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

/// A descriptor of the same socket, to be owned by another object.
static int duplicate(const FileDescriptor& socket) {
  return ::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0);
}

struct LoopbackServer::Implementation {
  Implementation(const FileDescriptor& socket, std::string token, Find find, WebLimits limits)
      : service{std::move(token), std::move(find), limits},
        acceptor(context, Tcp::v4(), duplicate(socket)) {}

  void accept() {
    acceptor.async_accept([this](beast::error_code failed, Tcp::socket socket) {
      if (!failed && service.open < service.limits.connections) {
        std::make_shared<Connection>(std::move(socket), service)->read();
      }
      failed ? accept_later() : accept();
    });
  }

  /// No descriptors or memory are left: waits for some.
  void accept_later() {
    pause.expires_after(duration(1));
    pause.async_wait([this](beast::error_code failed) {
      if (!failed) accept();
    });
  }

  Service service;  // before the context, whose connections refer to it
  asio::io_context context{1};
  Tcp::acceptor acceptor;
  asio::steady_timer pause{context};
};

LoopbackServer::LoopbackServer(const FileDescriptor& socket, std::string token, Find find,
                               WebLimits limits)
    : implementation_(
          std::make_unique<Implementation>(socket, std::move(token), std::move(find), limits)) {}

LoopbackServer::~LoopbackServer() = default;

void LoopbackServer::serve() {
  implementation_->accept();
  implementation_->context.run();
}

bool LoopbackServer::is_answering() const { return implementation_->service.answering > 0; }

void LoopbackServer::stop() { implementation_->context.stop(); }

}  // namespace doetune::cli
