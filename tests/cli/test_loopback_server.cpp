// The server of `--live` as hostile clients see it. What a status code means: RFC 9110.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "base/clock.h"
#include "cli/live/loopback_server.h"

using namespace doetune;
using cli::LoopbackServer;
using cli::LoopbackSocket;

namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";
const std::string kSecret = "throughput 861";

/// Short, so that the tests are.
const cli::WebLimits kLimits{.request_s = 1, .response_s = 1, .header = 2048, .connections = 8};

/// A server with the pages "" and "state.json", and "large", which fills every buffer.
class Served {
 public:
  Served() : socket_(0), server_(socket_.descriptor(), kToken, find, kLimits) {
    find("large");  // made before any client waits for it
    thread_ = std::jthread([this] { server_.serve(); });
  }
  ~Served() { server_.stop(); }

  std::uint16_t port() const { return socket_.port(); }

 private:
  static cli::WebPage find(std::string_view name) {
    static const auto page = std::make_shared<const std::string>(kSecret);
    static const auto large = std::make_shared<const std::string>(std::size_t{64} << 20, 'x');
    if (name == "large") return {"text/plain", large};
    if (name.empty() || name == "state.json") return {"application/json", page};
    return {};
  }

  LoopbackSocket socket_;
  LoopbackServer server_;
  std::jthread thread_;
};

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }

  /// False if the connection is closed.
  bool send(const std::string& text) {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }

  /// What has been received when the server closes the connection, or nothing comes for 5 s.
  std::string rest() {
    std::string text;
    char part[65536];
    pollfd readable{socket_.get(), POLLIN, 0};
    while (::poll(&readable, 1, 5000) == 1) {
      const ssize_t size = ::recv(socket_.get(), part, sizeof(part), 0);
      if (size <= 0) {
        closed_ = true;
        break;
      }
      text.append(part, static_cast<std::size_t>(size));
    }
    return text;
  }

  bool closed() const { return closed_; }

 private:
  FileDescriptor socket_;
  bool closed_ = false;
};

std::string asked(std::uint16_t port, const std::string& request) {
  Client client(port);
  client.send(request);
  return client.rest();
}

std::string get(std::uint16_t port, const std::string& path,
                const std::string& host = "localhost") {
  return asked(port,
               "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
}

std::string status_of(const std::string& response) { return response.substr(0, 12); }

}  // namespace

TEST_CASE("The address with the token, and nothing else, leads to the pages", "[live]") {
  Served served;
  for (const char* page : {"/", "/state.json", "/state.json?7"}) {
    const std::string response = get(served.port(), "/" + kToken + page);
    CHECK(status_of(response) == "HTTP/1.1 200");
    CHECK(response.find(kSecret) != std::string::npos);
    CHECK(response.find("Cache-Control: no-store\r\n") != std::string::npos);
    CHECK(response.find("Referrer-Policy: no-referrer\r\n") != std::string::npos);
    CHECK(response.find("frame-ancestors 'self'") != std::string::npos);
    CHECK(response.find("Access-Control-Allow-Origin") == std::string::npos);
  }
  std::string wrong = kToken;
  wrong.back() = 'e';
  for (const std::string& path :
       {"/" + wrong + "/", "/" + kToken.substr(1) + "/", "/" + kToken, std::string("/"),
        std::string("//"), "//" + kToken + "/", "/" + kToken + kToken + "/", std::string("*"),
        "/x/" + kToken + "/"}) {
    INFO(path);
    const std::string response = get(served.port(), path);
    CHECK(status_of(response) == "HTTP/1.1 404");
    CHECK(response.find(kSecret) == std::string::npos);
  }
}

TEST_CASE("No path leads to a file", "[live]") {
  Served served;
  for (const char* path : {"/../../../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd",
                           "/state.json/../../etc/passwd", "/%00", "/state.json%00", "/./",
                           "/STATE.JSON", "/file:///etc/passwd"}) {
    INFO(path);
    const std::string response = get(served.port(), "/" + kToken + path);
    CHECK(status_of(response) == "HTTP/1.1 404");
    CHECK(response.find("root:") == std::string::npos);
  }
}

TEST_CASE("A page of another host cannot read, whatever its name points to", "[live]") {
  Served served;
  const std::string page = "/" + kToken + "/";
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost:1", "LocalHost"}) {
    INFO(host);
    CHECK(status_of(get(served.port(), page, host)) == "HTTP/1.1 200");
  }
  for (const char* host :
       {"evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example",
        "127.0.0.2", "", "0.0.0.0", "evil@127.0.0.1"}) {
    INFO(host);
    const std::string response = get(served.port(), page, host);
    CHECK(status_of(response) == "HTTP/1.1 403");
    CHECK(response.find(kSecret) == std::string::npos);
  }
  const std::string start = "GET " + page + " HTTP/1.1\r\nConnection: close\r\n";
  CHECK(status_of(asked(served.port(), start + "\r\n")) == "HTTP/1.1 403");
  CHECK(status_of(asked(served.port(), start + "Host: evil.example\r\nHost: localhost\r\n\r\n")) ==
        "HTTP/1.1 403");
}

TEST_CASE("Nothing but GET is answered", "[live]") {
  Served served;
  for (const char* method :
       {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PURGE", "X"}) {
    INFO(method);
    const std::string response =
        asked(served.port(), std::string(method) + " /" + kToken +
                                 "/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK(status_of(response) == "HTTP/1.1 405");
    CHECK(response.find(kSecret) == std::string::npos);
  }
}

TEST_CASE("What is not a request, or too large, ends the connection", "[live]") {
  Served served;
  const std::string start = "GET /" + kToken + "/ HTTP/1.1\r\nHost: localhost\r\n";
  for (const std::string& request :
       {std::string("\x16\x03\x01 TLS"), std::string(100, '\0'), std::string("GET\r\n\r\n"),
        "GET /" + std::string(10000, 'a') + " HTTP/1.1\r\n\r\n",
        start + "X: " + std::string(10000, 'a') + "\r\n\r\n",
        start + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'a'),
        start + "Transfer-Encoding: chunked\r\n\r\n5\r\naaaaa\r\n0\r\n\r\n"}) {
    Client client(served.port());
    client.send(request);
    CHECK(client.rest() == "");
    CHECK(client.closed());
  }
  CHECK(status_of(get(served.port(), "/" + kToken + "/")) == "HTTP/1.1 200");
}

TEST_CASE("A client that sends slowly has no more time than another", "[live]") {
  Served served;
  Client slow(served.port());
  const double began_s = monotonic_s();
  // Each byte comes within the limit; the request does not.
  while (slow.send("G") && monotonic_s() - began_s < 5) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(monotonic_s() - began_s < 5);
  CHECK(status_of(get(served.port(), "/" + kToken + "/")) == "HTTP/1.1 200");
}

TEST_CASE("A client that does not read is dropped", "[live]") {
  Served served;
  Client slow(served.port());
  slow.send("GET /" + kToken + "/large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const std::string received = slow.rest();
  CHECK(slow.closed());
  CHECK(received.size() < (std::size_t{64} << 20));
  CHECK(status_of(get(served.port(), "/" + kToken + "/")) == "HTTP/1.1 200");
}

TEST_CASE("More connections than allowed are closed at once, and others are served again later",
          "[live]") {
  Served served;
  std::vector<Client> idle;
  for (std::size_t i = 0; i < kLimits.connections; ++i) idle.emplace_back(served.port());
  for (int i = 0; i < 200; ++i) {
    Client more(served.port());
    CHECK(more.rest() == "");
    CHECK(more.closed());
  }
  for (Client& client : idle) {
    CHECK(client.rest() == "");  // until their time is over
    CHECK(client.closed());
  }
  CHECK(status_of(get(served.port(), "/" + kToken + "/")) == "HTTP/1.1 200");
}

TEST_CASE("A connection is used for many requests", "[live]") {
  Served served;
  Client client(served.port());
  for (int i = 0; i < 3; ++i) {
    client.send("GET /" + kToken + "/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  const std::string responses = client.rest();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = responses.find(kSecret, at)) != std::string::npos; ++at) ++count;
  CHECK(count == 3);
}

TEST_CASE("A port in use is refused", "[live]") {
  const LoopbackSocket first(0);
  CHECK_THROWS_AS(LoopbackSocket(first.port()), std::system_error);
}

TEST_CASE("Tokens are long and differ", "[live]") {
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(cli::random_token());
  CHECK(tokens.size() == 1000);
  for (const std::string& token : tokens) {
    REQUIRE(token.size() == 32);
    REQUIRE(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
  CHECK(cli::equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(cli::equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(cli::equal_in_constant_time("abc", "ab"));
}
