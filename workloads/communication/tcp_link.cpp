#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "workloads/communication/ring.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kConnectTime = std::chrono::seconds(30);
constexpr int kNap_ms = 50;  // between looks at the other ranks

class TcpLink final : public RingLink {
 public:
  explicit TcpLink(Group& group) : RingLink(group) {
    if (group.size() == 1) return;
    const FileDescriptor listener = listen_at({group.local_host(), 0});
    const auto all = group.gather(to_text(local_address(listener.get())));
    group.watch();
    to_next_ = patiently(
        next(), [&](Deadline until) { return connect_to(address_named(all[next()]), until); });
    send_text(to_next_.get(), hello(group.rank()));
    while (!from_previous_) {
      FileDescriptor socket =
          patiently(previous(), [&](Deadline until) { return accept_at(listener.get(), until); });
      if (is_previous(socket.get())) from_previous_ = std::move(socket);
    }
  }

 private:
  std::string hello(int rank) const { return fmt::format("{} {}", group_.token(), rank); }

  /// Tries again, and looks at the other ranks in between.
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

  bool is_previous(int socket) const try {
    return receive_text(socket, Clock::now() + std::chrono::seconds(5)) == hello(previous());
  } catch (const std::runtime_error&) {
    return false;  // a stranger
  }

  void move(Frame& out, Frame& in, const FrameHeader& expected) override {
    while (!out.done() || !in.done()) {
      const bool sent = !out.done() && send(out);
      const bool received = !in.done() && receive(in);
      check(in, expected);
      if (!sent && !received) sleep(!out.done(), !in.done());
    }
  }

  bool send(Frame& frame) {
    auto parts = frame.parts();
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t bytes = sendmsg(to_next_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return moved(frame, bytes, next());
  }

  bool receive(Frame& frame) {
    auto parts = frame.parts();
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t bytes = recvmsg(from_previous_.get(), &message, MSG_DONTWAIT);
    if (bytes == 0) group_.report_closed(previous());
    return moved(frame, bytes, previous());
  }

  bool moved(Frame& frame, ssize_t bytes, int other) const {
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
    if (bytes < 0) group_.report_closed(other);
    frame.advance(static_cast<std::size_t>(bytes));
    return bytes > 0;
  }

  void sleep(bool sending, bool receiving) const {
    pollfd waiting[]{{sending ? to_next_.get() : -1, POLLOUT, 0},
                     {receiving ? from_previous_.get() : -1, POLLIN, 0}};
    if (poll(waiting, 2, kNap_ms) <= 0) group_.check();
  }

  FileDescriptor to_next_;
  FileDescriptor from_previous_;
};

}  // namespace

std::unique_ptr<RingLink> tcp_link(Group& group) { return std::make_unique<TcpLink>(group); }

}  // namespace doetune::workloads
