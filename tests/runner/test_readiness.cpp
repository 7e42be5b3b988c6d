// Whether a server can be used: addresses, and what answers there.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "base/file_descriptor.h"
#include "runner/servers/readiness.h"

using namespace doetune;
using runner::parse_address;

namespace {

/// A port of this machine that accepts connections, and answers the first one with a text.
class Listener {
 public:
  explicit Listener(std::string answer)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)), answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(socket_.get(), generic, size) == 0);
    REQUIRE(::listen(socket_.get(), 4) == 0);
    REQUIRE(::getsockname(socket_.get(), generic, &size) == 0);
    port_ = std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] {
      const FileDescriptor client(::accept(socket_.get(), nullptr, nullptr));
      char request[1024];
      if (::recv(client.get(), request, sizeof request, 0) <= 0) return;
      ::send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    });
  }
  ~Listener() { thread_.join(); }

  std::string problem(const std::string& scheme) const {
    return problem_of_address(*parse_address(scheme + "://127.0.0.1:" + port_ + "/health"), 5);
  }

 private:
  FileDescriptor socket_;
  std::string answer_;
  std::string port_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("Addresses have a scheme, a host and a port", "[runner][readiness]") {
  const auto address = parse_address("http://node7:8000/v1/models");
  REQUIRE(address);
  CHECK((address->http && address->host == "node7" && address->port == "8000"));
  CHECK(address->path == "/v1/models");
  CHECK(parse_address("http://node7")->port == "80");
  CHECK(parse_address("http://node7")->path == "/");
  CHECK(parse_address("tcp://[::1]:9")->host == "::1");
  CHECK_FALSE(parse_address("tcp://[::1]:9")->http);
  for (const char* wrong : {"", "node7:8000", "tcp://node7", "http://:80/", "tcp://node7:http",
                            "http://node7:80/a b", "https://node7/", "http://node7:80/\r\nX: y"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_address(wrong));
  }
}

TEST_CASE("A server is ready by http if its status is 2xx", "[runner][readiness]") {
  CHECK(Listener("HTTP/1.1 200 OK\r\n\r\nfine").problem("http").empty());
  CHECK(Listener("HTTP/1.0 204 No Content\r\n\r\n").problem("http").empty());
  CHECK(Listener("HTTP/1.1 503 Service Unavailable\r\n\r\n").problem("http") ==
        "HTTP/1.1 503 Service Unavailable");
  CHECK_THAT(Listener("SSH-2.0-OpenSSH\r\n").problem("http"),
             Catch::Contains("not an answer in HTTP: SSH-2.0-OpenSSH"));
  CHECK_THAT(Listener("").problem("http"), Catch::Contains("closed without an answer"));
}

TEST_CASE("A server is ready by tcp if it accepts connections", "[runner][readiness]") {
  CHECK(Listener("").problem("tcp").empty());
  // Port 1 is reserved, and nothing listens there.
  CHECK(problem_of_address(*parse_address("tcp://127.0.0.1:1"), 5) == "Connection refused");
  CHECK_THAT(problem_of_address(*parse_address("tcp://no-such-host.invalid:1"), 5),
             Catch::Contains("no-such-host.invalid"));
}

TEST_CASE("A probe asks until the answer is empty", "[runner][readiness]") {
  int asked = 0;
  runner::ReadinessProbe probe([&] { return ++asked < 3 ? std::string("loading") : ""; });
  CHECK(probe.problem() == "no answer yet");
  while (!probe.is_ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(asked == 3);
}
