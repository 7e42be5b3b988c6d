#include "runner/launchers/cluster_poll.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.h"

namespace doetune::runner {
namespace {

constexpr double kMaxPoll_s = 60;
constexpr int kMaxDoublings = 10;

}  // namespace

ClusterPoll::ClusterPoll(ClientCommands& commands, Query query)
    : commands_(commands), query_(std::move(query)) {}

double ClusterPoll::due_s() const {
  return asking_ ? std::numeric_limits<double>::infinity() : due_s_;
}

void ClusterPoll::ask_within(double seconds) {
  if (!silent()) due_s_ = std::min(due_s_, monotonic_s() + seconds);  // also during a query
}

void ClusterPoll::ask_if_due(double now_s) {
  if (now_s < due_s()) return;
  asking_ = true;
  due_s_ = now_s + query_.every_s;
  commands_.start(query_.command, kClusterAnswer_s,
                  [this, now_s](const ClientAnswer& answer) { hear(answer, now_s); });
}

void ClusterPoll::hear(const ClientAnswer& answer, double asked_s) {
  asking_ = false;
  if (!answer.ok() || !query_.read(answer)) {
    if (failures_ == 0 && query_.note) {
      query_.note(fmt::format("{} does not answer ({}: {}); its jobs continue, and doetune waits",
                              query_.cluster, query_.command.front(), answer.words()));
    }
    failures_ = std::min(failures_ + 1, kMaxDoublings);
    due_s_ = monotonic_s() + std::min(kMaxPoll_s, std::ldexp(query_.every_s, failures_ - 1));
    return;
  }
  if (failures_ > 0 && query_.note) query_.note(query_.cluster + " answers again");
  failures_ = 0;
  asked_s_ = asked_s;
  query_.heard();
}

}  // namespace doetune::runner
