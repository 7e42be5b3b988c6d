// Runs each attempt as a Job of Kubernetes.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/launchers/client_launcher.h"
#include "runner/launchers/cluster_poll.h"
#include "runner/launchers/kubernetes_state.h"

namespace doetune::runner {

/// Kubernetes is reached with kubectl alone. The manifest of a Job, with its unique name, is in
/// DIR/job.json before it is created. The Job is deleted once the attempt's end is known.
///
/// If the study directory is on a volume of the pods, the attempt's directory is decisive, as with
/// other clusters; the states of Job and pod say when to look at it, and why there is no `exit`.
/// Otherwise nothing claims the directory, and the attempt's files come from the log of its pod
/// when that is over. Nothing blocks on Kubernetes: while its API server is silent, nothing is
/// created and nothing is given up.
class KubernetesLauncher : public ClientLauncher {
 public:
  explicit KubernetesLauncher(LauncherRequest request);
  ~KubernetesLauncher() override;  ///< Jobs continue; the next doetune resumes them

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override;
  bool has_programs_here() const override { return false; }
  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 protected:
  std::optional<int> start_client(const Attempt&) override { return std::nullopt; }
  AttemptEnd not_begun(const Attempt& attempt, const ClientAnswer& answer) override;
  std::optional<AttemptEnd> known_end(const Attempt& attempt) override;
  void dismiss(const Attempt& attempt) override;
  void had_begun(const std::string&) override { noted_.clear(); }

 private:
  struct Job {
    std::string name;
    std::filesystem::path directory;             ///< of the attempt
    bool created = false;                        ///< kubectl was asked to create it
    std::optional<double> missing_since_s = {};  ///< first answer without the Job
    std::optional<double> over_since_s = {};     ///< first answer that it is over, or never starts
    std::optional<double> waits_since_s = {};    ///< first answer that its pod does not run yet
    KubernetesJob seen = {};                     ///< as last listed
    bool reading_log = false;
    bool log_read = false;
    std::string log_problem = {};  ///< why the log, which has the result, cannot be read
    std::string words = {};        ///< the last line of the log
    std::string given_up = {};     ///< why there is no such Job: refused, or deleted
    bool refused = false;
  };

  void create_more();
  void created(const std::string& attempt, const std::string& name, const ClientAnswer& answer);
  bool read(const ClientAnswer& answer);
  void heard();
  void consider(const std::string& attempt, Job& job);
  void consider_over(const std::string& attempt, Job& job);
  bool is_settled(const Job& job) const;
  void note_waiting(const std::string& attempt, Job& job);
  void read_log(const std::string& attempt, Job& job);
  void log_was_read(const std::string& attempt, const ClientAnswer& answer);
  void give_up(const std::string& attempt, Job& job, std::string why);
  void remove(const std::string& name);
  void remove_ended();
  void delete_more();
  std::vector<std::string> call(const std::vector<std::string>& arguments) const;

  bool shared_;  ///< whether the pods see the study directory
  ClusterPoll poll_;
  std::map<std::string, Job> jobs_;              ///< by attempt
  std::map<std::string, KubernetesJob> listed_;  ///< of this study directory, by name
  std::deque<std::string> to_create_;            ///< attempts
  int creating_ = 0;
  double create_due_s_ = 0;          ///< after a Job did not reach the API server
  std::set<std::string> unwanted_;   ///< names of Jobs to delete until they are not listed
  std::set<std::string> to_delete_;  ///< those for which kubectl is not asked yet
  bool deleting_ = false;
  std::set<std::string> noted_;  ///< what pods wait for, as told to the user
};

}  // namespace doetune::runner
