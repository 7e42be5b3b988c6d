#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/communication/ring.h"

namespace doetune::workloads {
namespace {

constexpr auto kConnectTime = std::chrono::seconds(30);
constexpr int kNap_ms = 50;  // between checks of the other ranks

class TcpLink final : public RingLink {
 public:
  TcpLink(Group& group, int step) : RingLink(group, step) {}

  void set_to(FileDescriptor socket) { to_ = std::move(socket); }
  void set_from(FileDescriptor socket) { from_ = std::move(socket); }
  bool has_from() const { return static_cast<bool>(from_); }

 private:
  void move(Frame& out, Frame& in, const FrameHeader& expected) override {
    while (!out.done() || !in.done()) {
      const bool sent = !out.done() && push(out);
      const bool received = !in.done() && pull(in);
      check(in, expected);
      if (!sent && !received) sleep(!out.done(), !in.done());
    }
  }

  bool push(Frame& frame) {
    auto parts = frame.parts();
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t bytes = sendmsg(to_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return moved(frame, bytes, to());
  }

  bool pull(Frame& frame) {
    auto parts = frame.parts();
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t bytes = recvmsg(from_.get(), &message, MSG_DONTWAIT);
    if (bytes == 0) group_.report_closed(from());
    return moved(frame, bytes, from());
  }

  bool moved(Frame& frame, ssize_t bytes, int other) const {
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
    if (bytes < 0) group_.report_closed(other);
    frame.advance(static_cast<std::size_t>(bytes));
    return bytes > 0;
  }

  void sleep(bool sending, bool receiving) const {
    pollfd waiting[]{{sending ? to_.get() : -1, POLLOUT, 0},
                     {receiving ? from_.get() : -1, POLLIN, 0}};
    if (poll(waiting, 2, kNap_ms) <= 0) group_.check();
  }

  FileDescriptor to_;
  FileDescriptor from_;
};

/// Establishes the connections of all links of a rank.
class Connector {
 public:
  Connector(Group& group, std::span<TcpLink* const> links) : group_(group), links_(links) {
    const FileDescriptor listener = listen_at({group.local_host(), 0});
    const auto all = group.gather(to_text(local_address(listener.get())));
    group.watch();
    for (std::size_t kind = 0; kind < links.size(); ++kind) {
      const int to = links[kind]->to();
      FileDescriptor socket =
          patiently(to, [&](Deadline until) { return connect_to(address_named(all[to]), until); });
      try {
        send_text(socket.get(), hello(kind, group.rank()));
      } catch (const Closed&) {  // it ended before it accepted: the group reports why
        group.report_closed(to);
      }
      links[kind]->set_to(std::move(socket));
    }
    for (const TcpLink* link : links)
      while (!link->has_from())
        take(patiently(link->from(),
                       [&](Deadline until) { return accept_at(listener.get(), until); }));
  }

 private:
  std::string hello(std::size_t kind, int rank) const {
    return fmt::format("{} {} {}", group_.token(), kind, rank);
  }

  /// Retries, checking the other ranks in between.
  template <class Attempt>
  FileDescriptor patiently(int other, Attempt attempt) const {
    const Deadline last = Clock::now() + kConnectTime;
    for (;;) try {
        return attempt(Clock::now() + std::chrono::milliseconds(kNap_ms));
      } catch (const TimedOut& error) {
        group_.check();
        if (Clock::now() > last)
          throw std::runtime_error(fmt::format("no connection with {}: {}",
                                               rank_name(other, group_.size()), error.what()));
      }
  }

  /// Hands a connection to its link; drops one that is not from doetune.
  void take(FileDescriptor socket) try {
    const std::string said = receive_text(socket.get(), Clock::now() + std::chrono::seconds(5));
    for (std::size_t kind = 0; kind < links_.size(); ++kind)
      if (said == hello(kind, links_[kind]->from())) links_[kind]->set_from(std::move(socket));
  } catch (const std::runtime_error&) {
  }

  Group& group_;
  std::span<TcpLink* const> links_;
};

}  // namespace

RingLinks tcp_links(Group& group) {
  auto sums = std::make_unique<TcpLink>(group, 1);
  auto up = std::make_unique<TcpLink>(group, 1);
  auto down = std::make_unique<TcpLink>(group, -1);
  if (group.size() > 1) Connector(group, std::array{sums.get(), up.get(), down.get()});
  return {std::move(sums), std::move(up), std::move(down)};
}

}  // namespace doetune::workloads
