// Runs attempts on other hosts with the OpenSSH client.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/launchers/client_launcher.h"
#include "runner/launchers/stage.h"

namespace doetune::runner {

/// The study directory, doetune-attempt and the programs must have the same paths on all hosts,
/// unless the study has a stage (stage.h), to which rsync copies files before the first run on a
/// host. What runs leave then comes back over the connection; they end with it, as with doetune,
/// and are lost. A host that fails to connect twice in a row gets no further runs; if none is left,
/// wait() throws RunError.
class SshLauncher : public ClientLauncher {
 public:
  explicit SshLauncher(LauncherRequest request);

  bool has_programs_here() const override { return !stage_; }
  void submit(const Attempt& attempt) override;

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  std::set<std::string> closed_hosts() const override { return closed_; }

 protected:
  std::optional<int> start_client(const Attempt& attempt) override;
  void dismiss(const Attempt& attempt) override;
  std::vector<std::string> client(const Attempt& attempt) const override;
  AttemptEnd not_begun(const Attempt& attempt, const ClientAnswer& answer) override;
  void had_begun(const std::string& host) override { failures_[host] = 0; }

 private:
  enum class Copied { kNot, kUnderWay, kYes };

  std::vector<std::string> connection() const;
  std::vector<std::string> copy(const std::string& host) const;
  void start_waiting(const std::string& host);
  void copied(const std::string& host, const ClientAnswer& answer);

  std::optional<Stage> stage_;
  std::filesystem::path files_from_;                     ///< the folder of the study file
  std::map<std::string, Copied> copied_;                 ///< by host
  std::map<std::string, std::vector<Attempt>> waiting_;  ///< for the files to be copied, by host
  std::map<std::string, int> clients_;                   ///< those of a stage, by attempt
  std::map<std::string, int> failures_;                  ///< consecutive failures by host
  std::set<std::string> closed_;
  std::string last_words_;
};

}  // namespace doetune::runner
