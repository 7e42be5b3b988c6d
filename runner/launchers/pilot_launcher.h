// Runs attempts as steps in one shared Slurm allocation.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runner/launchers/client_launcher.h"
#include "runner/launchers/slurm_queue.h"
#include "runner/launchers/stage.h"

namespace doetune::runner {

/// Submits a job that only holds nodes (the pilot) and runs each attempt in it as a step of `srun`,
/// which takes milliseconds instead of a second or more of queueing per run. All processes of a run
/// are on one node.
///
/// The pilot ends with this object, and by itself if DIRECTORY/pilot.alive was not touched for two
/// minutes: a killed doetune does not keep nodes, and one restarted before that continues with
/// them. A new allocation is requested if the old one ends while runs are left, or cannot fit a
/// step although none is in progress.
///
/// With a stage (stage.h), srun copies the files to the nodes of each allocation, and brings back
/// what runs leave: they end with doetune, which touches the comment of the job instead.
class PilotLauncher : public ClientLauncher {
 public:
  explicit PilotLauncher(LauncherRequest request);
  ~PilotLauncher() override;

  bool has_programs_here() const override { return !stage_; }
  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override;
  void submit(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 protected:
  std::optional<int> start_client(const Attempt& attempt) override;
  std::vector<std::string> client(const Attempt& attempt) const override;
  bool take_back(const Attempt& attempt, const ClientAnswer& answer, bool stopped) override;
  AttemptEnd not_begun(const Attempt& attempt, const ClientAnswer& answer) override;
  void had_begun(const std::string&) override {
    fruitless_ = 0;
    full_since_s_.reset();
    found_resources();
  }

 private:
  enum class Pilot { kUnknown, kNone, kSubmitting, kQueued, kRunning };

  std::vector<std::string> sbatch() const;
  void ask_for_nodes();
  void submitted(const ClientAnswer& answer);
  void heard();
  void pilot_ended(const std::string& why);
  void give_up(const std::string& why);
  void keep_alive(double now_s);
  void report_why_it_waits(const SlurmJob& job);
  void begin_waiting();
  void note_refusal();
  void found_resources();
  void leave_full_pilot();
  std::filesystem::path archive() const;
  bool has_files();
  std::vector<std::string> copy(const std::string& id) const;
  void copied(const std::string& id, const ClientAnswer& answer);
  void give_up_copying(const ClientAnswer& answer);
  void confirm_pilot();

  std::filesystem::path alive_;
  std::string name_;  ///< name of the job
  SlurmQueue queue_;
  Pilot pilot_ = Pilot::kUnknown;
  std::string id_;
  std::string reported_reason_;  ///< pending reason last reported to the user
  double submitted_s_ = 0;
  int missing_ = 0;     ///< consecutive answers without the pilot
  int fruitless_ = 0;   ///< consecutive allocations in which no attempt ended
  int jobs_ = 1;        ///< maximum number of attempts waiting at once: number of concurrent steps
  int gpus_ = 0;        ///< maximum of an attempt
  int ranks_ = 1;       ///< maximum of an attempt
  double limit_s_ = 0;  ///< maximum of an attempt; a server lives as long as its whole plot
  std::deque<Attempt> waiting_;
  double kept_alive_s_ = 0;
  double retry_s_ = 0;                       ///< when to retry steps that did not fit
  double retry_step_s_ = 0;                  ///< delay between such steps; 0: none was refused
  std::string retried_;                      ///< the attempt that was retried last
  std::optional<double> full_since_s_ = {};  ///< time since which no step fitted and none ended
  std::string left_id_;                      ///< of a pilot being cancelled
  std::optional<Stage> stage_;
  std::filesystem::path files_from_;  ///< the folder of the study file
  std::string has_files_;             ///< the allocation whose nodes have the files
  bool copying_ = false;
  std::optional<int> copy_;  ///< the command that copies, once the files are packed
  int failed_copies_ = 0;    ///< consecutive
  bool comment_refused_ = false;
};

}  // namespace doetune::runner
