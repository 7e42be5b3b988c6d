// A server that computes nothing: it answers what serving-load asks as fast as one thread can, or
// with the faults that are asked for. For the tests of serving-load, and to measure its own limits.
//
//   null_server [--port N] [--tokens N] [--delay S] [--separate 1] [--stall S --stall_every S]
//               [--fault NAME --fault_every N] [--per_connection N]
//
// --tokens is the length of answers to requests without max_tokens, --delay the time between
// tokens;
// --separate sends each token by itself also without a delay. Every --stall_every seconds it does
// nothing for --stall seconds. Every --fault_every-th request meets the fault: refuse (HTTP 429),
// error (HTTP 500), event_error (an error within the stream), garbage (no HTTP), no_json (events
// that are no JSON), close (in the middle of the stream), truncate (an orderly end in the middle),
// silent (no answer), no_usage (no fault: usage is left out). A connection is closed at request
// --per_connection + 1, unannounced, as servers do that limit how long a connection lives.
//
// The first line that it prints is its port on 127.0.0.1.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"

namespace {

using doetune::monotonic_s;

struct Options {
  int port = 0;
  int tokens = 64;
  double delay = 0;
  bool separate = false;
  double stall = 0;
  double stall_every = 1e9;
  std::string fault;
  int fault_every = 1;
  int per_connection = 1 << 30;
};

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kEnd = "0\r\n\r\n";

std::string http(std::string_view status, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
      body.size(), body);
}

/// An event in an HTTP chunk of its own, as servers send them.
std::string event(std::string_view data) {
  return fmt::format("{:x}\r\ndata: {}\n\n\r\n", data.size() + 8, data);
}

std::string chat_event(std::string_view delta, std::string_view reason) {
  return event(fmt::format(
      R"({{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1700000000,"model":"null","choices":[{{"index":0,"delta":{{{}}},"logprobs":null,"finish_reason":{}}}],"usage":null}})",
      delta, reason));
}

/// The parts of a streamed answer, which are sent `delay` apart.
std::vector<std::string> stream_of(std::string_view path, int tokens, const std::string& fault) {
  const bool generate = path.find("generate_stream") != std::string_view::npos;
  const bool chat = path.find("chat") != std::string_view::npos;
  std::vector<std::string> parts{std::string(kHead)};
  if (chat) parts[0] += chat_event(R"("role":"assistant","content":"")", "null");
  for (int i = 0; i < tokens; ++i) {
    if (fault == "event_error" && i == tokens / 2) {
      parts.push_back(event(R"({"error":{"message":"out of memory","code":500}})"));
    } else if (fault == "no_json" && i == tokens / 2) {
      parts.push_back(event("<html>"));
    } else if (generate) {
      parts.push_back(event(R"({"model_name":"null","text_output":" word"})"));
    } else if (chat) {
      parts.push_back(chat_event(R"("content":" word")", "null"));
    } else {
      parts.push_back(event(R"({"id":"cmpl-0","choices":[{"index":0,"text":" word"}]})"));
    }
  }
  if (chat) parts.back() += chat_event("", R"("length")");
  if (fault == "close" || fault == "truncate") parts.resize(parts.size() / 2 + 1);
  if (fault == "close") return parts;
  if (fault != "truncate" && !generate) {
    if (fault != "no_usage")
      parts.back() += event(fmt::format(
          R"({{"id":"0","choices":[],"usage":{{"prompt_tokens":8,"completion_tokens":{}}}}})",
          tokens));
    parts.back() += event("[DONE]");
  }
  parts.back() += kEnd;
  return parts;
}

int number_after(std::string_view text, std::string_view key, int otherwise) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return otherwise;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
  int number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct Connection {
  doetune::FileDescriptor socket;
  std::string input;
  const std::vector<std::string>* parts = nullptr;  ///< being sent
  std::size_t sent = 0;
  bool closes = false;  ///< after the parts
  int answered = 0;
};

class Server {
 public:
  explicit Server(Options options)
      : options_(std::move(options)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        next_stall_s_(monotonic_s() + options_.stall_every) {
    const int on = 1;
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.get(), any, size) != 0 || listen(listener_.get(), 4096) != 0 ||
        getsockname(listener_.get(), any, &size) != 0) {
      std::perror("null_server");
      std::exit(1);
    }
    watch(listener_.get());
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const int count =
          epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
      stall();
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_.get())
          accept_all();
        else
          read(fd);
      }
      send_due();
    }
  }

 private:
  /// A part that is due on a connection.
  struct Due {
    double time_s;
    int fd;
    Connection* connection;
  };

  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  int wait_ms() const {
    const double until_s = std::min(due_.empty() ? 1e18 : due_.front().time_s, next_stall_s_);
    return doetune::to_milliseconds(std::clamp(until_s - monotonic_s(), 0.0, 1.0));
  }

  void stall() {
    if (monotonic_s() < next_stall_s_) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.stall));
    next_stall_s_ = monotonic_s() + options_.stall_every;
  }

  void accept_all() {
    for (;;) {
      doetune::FileDescriptor socket(
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) return;
      const int on = 1, fd = socket.get();
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(fd);
      connections_[fd] = std::make_unique<Connection>();
      connections_[fd]->socket = std::move(socket);
    }
  }

  void read(int fd) {
    const auto found = connections_.find(fd);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    std::array<char, 65536> bytes;
    const ssize_t count = recv(fd, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
      close(fd);
      return;
    }
    connection.input.append(bytes.data(), static_cast<std::size_t>(count));
    const std::size_t end = connection.input.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::string_view head(connection.input.data(), end);
    const auto length = static_cast<std::size_t>(number_after(head, "Content-Length", 0));
    if (connection.input.size() < end + 4 + length) return;
    if (++connection.answered > options_.per_connection) {
      close(fd);
      return;
    }
    answer(connection);
    if (connections_.contains(fd)) connection.input.clear();
  }

  void close(int fd) {
    std::erase_if(due_, [&](const Due& due) { return due.fd == fd; });
    connections_.erase(fd);
  }

  /// Answers the request in the connection's input.
  void answer(Connection& connection) {
    const std::string_view input = connection.input;
    const std::string_view path = input.substr(0, input.find(" HTTP"));
    const bool post = input.starts_with("POST");
    const bool faulty = post && ++requests_ % options_.fault_every == 0;
    const std::string fault = faulty ? options_.fault : "";
    const int tokens = number_after(input, "\"max_tokens\"", options_.tokens);
    const bool streams = post && input.find("\"stream\":true") != std::string_view::npos;
    if (fault == "silent") return;
    connection.parts = &parts_of(path, streams, tokens, fault);
    connection.sent = 0;
    connection.closes = fault == "close" || fault == "garbage";
    if (options_.delay > 0)
      send_part(connection);
    else
      send_all(connection);
  }

  const std::vector<std::string>& parts_of(std::string_view path, bool streams, int tokens,
                                           const std::string& fault) {
    const std::string key = fmt::format("{} {} {} {}", path, streams, tokens, fault);
    std::vector<std::string>& parts = answers_[key];
    if (!parts.empty()) return parts;
    if (fault == "refuse")
      parts = {http("429 Too Many Requests", R"({"error":"busy"})")};
    else if (fault == "error")
      parts = {http("500 Internal Server Error", R"({"error":"broken"})")};
    else if (fault == "garbage")
      parts = {"no HTTP at all\r\n\r\n"};
    else if (streams)
      parts = stream_of(path, tokens, fault);
    else if (path.ends_with("/v1/models"))
      parts = {http("200 OK", R"({"data":[{"id":"null"}]})")};
    else if (path.ends_with("/infer"))
      parts = {http("200 OK", R"({"outputs":[{"name":"y","shape":[1],"data":[0]}]})")};
    else if (path.find("/v2/models/") != std::string_view::npos)
      parts = {http("200 OK", R"({"inputs":[{"name":"x","datatype":"FP32","shape":[-1,4]},)"
                              R"({"name":"text","datatype":"BYTES","shape":[1]}]})")};
    else
      parts = {http("200 OK", "{}")};
    if (options_.delay == 0 && !options_.separate && parts.size() > 1) {
      for (std::size_t i = 1; i < parts.size(); ++i) parts[0] += parts[i];
      parts.resize(1);
    }
    return parts;
  }

  void send_all(Connection& connection) {
    for (const std::string& part : *connection.parts)
      ::send(connection.socket.get(), part.data(), part.size(), MSG_NOSIGNAL);
    if (connection.closes) close(connection.socket.get());
  }

  void send_part(Connection& connection) {
    const int fd = connection.socket.get();
    const std::string& part = (*connection.parts)[connection.sent++];
    ::send(fd, part.data(), part.size(), MSG_NOSIGNAL);
    if (connection.sent < connection.parts->size())
      due_.push_back({monotonic_s() + options_.delay, fd, &connection});
    else if (connection.closes)
      close(fd);
  }

  void send_due() {
    const double now_s = monotonic_s();
    while (!due_.empty() && due_.front().time_s <= now_s) {
      Connection& connection = *due_.front().connection;
      due_.pop_front();
      send_part(connection);
    }
  }

  Options options_;
  doetune::FileDescriptor listener_;
  doetune::FileDescriptor epoll_;
  double next_stall_s_;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::map<std::string, std::vector<std::string>> answers_;
  std::deque<Due> due_;  ///< by time, as all delays are the same
  int requests_ = 0;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--port")
      options.port = std::stoi(value);
    else if (name == "--tokens")
      options.tokens = std::stoi(value);
    else if (name == "--delay")
      options.delay = std::stod(value);
    else if (name == "--separate")
      options.separate = value == "1";
    else if (name == "--stall")
      options.stall = std::stod(value);
    else if (name == "--stall_every")
      options.stall_every = std::stod(value);
    else if (name == "--fault")
      options.fault = value;
    else if (name == "--fault_every")
      options.fault_every = std::stoi(value);
    else if (name == "--per_connection")
      options.per_connection = std::stoi(value);
    else {
      fmt::print(stderr, "null_server: no option is named '{}'\n", name);
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) { Server(options_of(argc, argv)).run(); }
