#include "workloads/serving/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"

namespace doetune::workloads {
namespace {

constexpr std::size_t kMaxPage = std::size_t{16} << 20;  // bytes
constexpr double kNever = std::numeric_limits<double>::infinity();

/// libcurl's global state, once in a process.
void initialise_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
}

Fault fault_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
    case CURLE_WRITE_ERROR:  // the rest was not wanted
      return Fault::none;
    case CURLE_OPERATION_TIMEDOUT:
      return Fault::timed_out;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
      return Fault::cannot_connect;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return Fault::ended_early;
    default:
      return Fault::garbage;
  }
}

void check(CURLMcode code) {
  if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
}

template <class... Value>
void set(CURL* easy, CURLoption option, Value... value) {
  const CURLcode code = curl_easy_setopt(easy, option, value...);
  if (code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
}

struct HeaderList {
  curl_slist* list = nullptr;
  explicit HeaderList(const std::vector<std::string>& headers) {
    for (const std::string& header : headers) list = curl_slist_append(list, header.c_str());
    list = curl_slist_append(list, "Expect:");  // no question before long bodies are sent
  }
  ~HeaderList() { curl_slist_free_all(list); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
};

timespec to_timespec(double seconds) {
  constexpr double kLongest_s = 3600;
  const double whole = std::floor(std::clamp(seconds, 0.0, kLongest_s));
  return {static_cast<std::time_t>(whole),
          static_cast<long>((std::clamp(seconds, 0.0, kLongest_s) - whole) * 1e9)};
}

}  // namespace

class HttpClient::Implementation {
 public:
  Implementation(Target target, int connections);
  ~Implementation();
  void start(Transfer& transfer, const std::string& body);
  void run_until(double time_s, bool while_busy);
  int in_flight() const { return static_cast<int>(slots_.size() - free_.size()); }

 private:
  /// A handle of libcurl's, used for one transfer after another.
  struct Slot {
    CURL* easy = nullptr;
    Transfer* transfer = nullptr;
    const double* now_s = nullptr;
    long status = 0;
    std::array<char, CURL_ERROR_SIZE> error{};
  };

  Slot& free_slot();
  /// Sets the options of a new handle, or of one that was reset. Without resets libcurl counts the
  /// dead connections that it replaced over all transfers of a handle, and fails the sixth of these
  /// transfers (pull request 19066 of curl).
  void configure(Slot& slot);
  void wait(double until_s);
  void act(curl_socket_t socket, int events);
  void finish_transfers();
  static std::size_t on_bytes(char* bytes, std::size_t, std::size_t count, void* slot);
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM*, long milliseconds, void* self);

  Target target_;
  HeaderList headers_;
  FileDescriptor epoll_;
  CURLM* multi_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  double timer_s_ = kNever;  ///< when libcurl wants to be called
  double now_s_ = 0;         ///< when the events that are being handled were noticed
};

HttpClient::Implementation::Implementation(Target target, int connections)
    : target_(std::move(target)), headers_(target_.headers), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  initialise_curl();
  multi_ = curl_multi_init();
  if (!epoll_ || multi_ == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot wait for connections");
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
}

HttpClient::Implementation::~Implementation() {
  for (const auto& slot : slots_) {
    curl_multi_remove_handle(multi_, slot->easy);
    curl_easy_cleanup(slot->easy);
  }
  curl_multi_cleanup(multi_);
}

HttpClient::Implementation::Slot& HttpClient::Implementation::free_slot() {
  if (free_.empty()) {
    auto slot = std::make_unique<Slot>();
    slot->easy = curl_easy_init();
    if (slot->easy == nullptr) throw std::bad_alloc();
    slot->now_s = &now_s_;
    slots_.push_back(std::move(slot));
    Slot* const fresh = slots_.back().get();
    free_.push_back(fresh);
    configure(*fresh);
  }
  return *free_.back();
}

void HttpClient::Implementation::configure(Slot& slot) {
  set(slot.easy, CURLOPT_URL, target_.url.c_str());
  set(slot.easy, CURLOPT_HTTPHEADER, headers_.list);
  set(slot.easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(slot.easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(slot.easy, CURLOPT_PROXY, "");
  set(slot.easy, CURLOPT_NOSIGNAL, 1L);
  set(slot.easy, CURLOPT_TIMEOUT_MS, static_cast<long>(std::ceil(target_.timeout_s * 1e3)));
  set(slot.easy, CURLOPT_ERRORBUFFER, slot.error.data());
  set(slot.easy, CURLOPT_WRITEFUNCTION, &on_bytes);
  set(slot.easy, CURLOPT_WRITEDATA, &slot);
  set(slot.easy, CURLOPT_PRIVATE, &slot);
}

void HttpClient::Implementation::start(Transfer& transfer, const std::string& body) {
  Slot& slot = free_slot();
  free_.pop_back();
  slot.transfer = &transfer;
  slot.status = 0;
  slot.error[0] = '\0';
  if (body.empty()) {
    set(slot.easy, CURLOPT_HTTPGET, 1L);
  } else {
    set(slot.easy, CURLOPT_POST, 1L);
    set(slot.easy, CURLOPT_POSTFIELDS, body.data());
    set(slot.easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  }
  check(curl_multi_add_handle(multi_, slot.easy));
}

std::size_t HttpClient::Implementation::on_bytes(char* bytes, std::size_t, std::size_t count,
                                                 void* data) {
  Slot& slot = *static_cast<Slot*>(data);
  if (slot.status == 0) curl_easy_getinfo(slot.easy, CURLINFO_RESPONSE_CODE, &slot.status);
  return slot.transfer->receive(slot.status, {bytes, count}, *slot.now_s) ? count : 0;
}

/// libcurl tells which events of a socket it wants. `known` is not null for a socket that epoll
/// has.
int HttpClient::Implementation::on_socket(CURL*, curl_socket_t socket, int what, void* data,
                                          void* known) {
  auto& self = *static_cast<Implementation*>(data);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(self.epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events =
      ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
  event.data.fd = socket;
  epoll_ctl(self.epoll_.get(), known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
  if (known == nullptr) curl_multi_assign(self.multi_, socket, &self);
  return 0;
}

int HttpClient::Implementation::on_timer(CURLM*, long milliseconds, void* data) {
  auto& self = *static_cast<Implementation*>(data);
  self.timer_s_ =
      milliseconds < 0 ? kNever : monotonic_s() + static_cast<double>(milliseconds) / 1e3;
  return 0;
}

void HttpClient::Implementation::act(curl_socket_t socket, int events) {
  int running = 0;
  now_s_ = monotonic_s();
  check(curl_multi_socket_action(multi_, socket, events, &running));
}

void HttpClient::Implementation::finish_transfers() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    Slot* slot = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
    TransferEnd end{fault_of(code), {}, 0, now_s_};
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &end.status);
    long connects = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_NUM_CONNECTS, &connects);
    curl_multi_remove_handle(multi_, slot->easy);
    free_.push_back(slot);
    if (end.fault != Fault::none)
      end.example = slot->error[0] != '\0' ? slot->error.data() : curl_easy_strerror(code);
    if (connects > 0) {  // also where a connection that the server had closed was replaced
      curl_easy_reset(slot->easy);
      configure(*slot);
    }
    slot->transfer->finish(end);
  }
}

/// Waits for sockets until the time, and handles what they bring.
void HttpClient::Implementation::wait(double until_s) {
  std::array<epoll_event, 256> events;
  const timespec timeout = to_timespec(until_s - monotonic_s());
  const int count =
      epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  if (count < 0 && errno != EINTR)
    throw std::system_error(errno, std::generic_category(), "cannot wait for connections");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    act(event.data.fd, ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                           ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                           ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
  }
}

void HttpClient::Implementation::run_until(double time_s, bool while_busy) {
  do {
    wait(std::min(timer_s_, time_s));
    if (timer_s_ <= monotonic_s()) {
      timer_s_ = kNever;
      act(CURL_SOCKET_TIMEOUT, 0);
    }
    finish_transfers();
  } while (monotonic_s() < time_s && (!while_busy || in_flight() > 0));
}

HttpClient::HttpClient(const Target& target, int connections)
    : implementation_(std::make_unique<Implementation>(target, connections)) {}
HttpClient::~HttpClient() = default;
void HttpClient::start(Transfer& transfer, const std::string& body) {
  implementation_->start(transfer, body);
}
void HttpClient::run_until(double time_s) { implementation_->run_until(time_s, false); }
void HttpClient::run() { implementation_->run_until(kNever, true); }
int HttpClient::in_flight() const { return implementation_->in_flight(); }

std::string fetch(const Target& target) {
  struct Page : Transfer {
    std::string body;
    TransferEnd end;
    bool receive(long, std::string_view bytes, double) override {
      body.append(bytes);
      return body.size() <= kMaxPage;
    }
    void finish(const TransferEnd& how) override { end = how; }
  } page;
  HttpClient client(target, 1);
  client.start(page, "");
  client.run();
  if (page.end.fault != Fault::none)
    throw std::runtime_error(
        fmt::format("{}: {}: {}", target.url, sentence_of(page.end.fault), page.end.example));
  if (page.end.status != 200)
    throw std::runtime_error(fmt::format("{}: HTTP {}", target.url, page.end.status));
  return std::move(page.body);
}

}  // namespace doetune::workloads
