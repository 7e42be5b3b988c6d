// Submits each attempt as a separate Slurm job.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/client_command.h"
#include "runner/launchers/launcher.h"
#include "runner/launchers/slurm_queue.h"

namespace doetune::runner {

/// The attempt directory is decisive; Slurm's answers only indicate when to look at it, and why
/// there is no `exit`. Jobs are identified by name, which is unique; the number, which Slurm may
/// reuse, is stored in DIR/job for the user. Nothing blocks on Slurm: while its controller is
/// silent, nothing is submitted and nothing is given up.
///
/// An attempt is lost if Slurm reports its job as over, or omits it twice, and there is no
/// heartbeat; it is then fenced, so that a job which starts late does nothing, and any remaining
/// job is cancelled. A node that lost two attempts without an `exit` is excluded from then on.
class SlurmLauncher : public Launcher {
 public:
  explicit SlurmLauncher(LauncherRequest request);
  ~SlurmLauncher() override;  ///< jobs continue; the next doetune resumes them

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override;
  std::string_view ranks() const override { return "srun"; }
  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 private:
  struct Job {
    std::string attempt;
    AttemptWatch watch;
    std::vector<std::string> submission = {};    ///< the sbatch command
    std::optional<double> submitted_s = {};      ///< empty until sbatch has ended
    std::optional<double> missing_since_s = {};  ///< first answer without the job
    std::optional<double> over_since_s = {};     ///< first answer that it is over, or should be
    std::optional<AttemptEnd> reported = {};     ///< `exit` says stopped; Slurm knows why
    SlurmJob seen = {};                          ///< as last listed
    bool cancelled = false;                      ///< by cancel()
  };

  void submit_more();
  void submitted(const std::string& name, const ClientAnswer& answer);
  void look();
  void consider_all();
  void clear_queue();
  std::optional<AttemptEnd> consider(const std::string& name, Job& job);
  std::optional<AttemptEnd> consider_listed(const std::string& name, Job& job);
  std::optional<AttemptEnd> consider_missing(Job& job);
  void finish(const std::string& name, const AttemptEnd& end, bool exit_is_there);
  void remove_from_queue(const std::string& name);
  void count_failure(const AttemptEnd& end, const SlurmJob& job);

  LauncherRequest request_;
  ClientCommands commands_;
  SlurmQueue queue_;
  std::map<std::string, Job> jobs_;    ///< by job name
  std::deque<std::string> to_submit_;  ///< job names
  int submitting_ = 0;
  std::set<std::string> unwanted_;       ///< names of jobs to cancel until Slurm reports them over
  std::map<std::string, int> failures_;  ///< lost attempts by node
  std::set<std::string> excluded_;       ///< nodes
  std::vector<LauncherEvent> events_;
  double look_due_s_ = 0;
};

}  // namespace doetune::runner
