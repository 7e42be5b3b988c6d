// Runs attempts on other hosts with the OpenSSH client.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/launchers/client_launcher.h"

namespace doetune::runner {

/// The study directory, doetune-attempt and the programs must have the same paths on all hosts. A
/// host that fails to connect twice in a row gets no further runs; if none is left, wait() throws
/// RunError.
class SshLauncher : public ClientLauncher {
 public:
  explicit SshLauncher(LauncherRequest request) : ClientLauncher(std::move(request)) {}

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  std::set<std::string> closed_hosts() const override { return closed_; }

 protected:
  std::vector<std::string> client(const Attempt& attempt) const override;
  AttemptEnd not_begun(const Attempt& attempt, const ClientAnswer& answer) override;
  void had_begun(const std::string& host) override { failures_[host] = 0; }

 private:
  std::map<std::string, int> failures_;  ///< consecutive failures by host
  std::set<std::string> closed_;
  std::string last_words_;
};

}  // namespace doetune::runner
