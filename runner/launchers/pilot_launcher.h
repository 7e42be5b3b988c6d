// Attempts as steps in one allocation of Slurm that they share.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runner/launchers/client_launcher.h"
#include "runner/launchers/slurm_queue.h"

namespace doetune::runner {

/// A job that only holds nodes (the pilot), and in it a step of `srun` for each attempt:
/// milliseconds instead of a second or more of queueing a run. A run has all its processes on one
/// node.
///
/// The pilot ends with this object, and by itself when nobody has touched DIRECTORY/pilot.alive for
/// two minutes: a doetune that was killed holds no nodes, and one that is started again before that
/// goes on with them. An allocation that ends while runs are left, or has no room for a step though
/// none is in progress, is asked for again.
class PilotLauncher : public ClientLauncher {
 public:
  explicit PilotLauncher(LauncherRequest request);
  ~PilotLauncher() override;

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const PlaceOptions& options) const override;
  void submit(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 protected:
  std::vector<std::string> client(const Attempt& attempt) const override;
  bool take_back(const Attempt& attempt, const ClientAnswer& answer) override;
  AttemptEnd not_begun(const std::string& host, const ClientAnswer& answer) override;
  void had_begun(const std::string&) override {
    fruitless_ = 0;
    no_room_since_s_.reset();
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
  void leave_full_pilot();

  std::filesystem::path alive_;
  std::string name_;  ///< of the job
  SlurmQueue queue_;
  Pilot pilot_ = Pilot::kUnknown;
  std::string id_;
  std::string reported_reason_;  ///< for which it waits, as the user was told
  double submitted_s_ = 0;
  int missing_ = 0;    ///< answers in a row without it
  int fruitless_ = 0;  ///< allocations in a row without an attempt that ended
  int jobs_ = 1;       ///< most attempts that have waited at once: so many steps have room
  int gpus_ = 0;       ///< most of an attempt
  int ranks_ = 1;      ///< most of an attempt
  std::deque<Attempt> waiting_;
  double kept_alive_s_ = 0;
  double retry_s_ = 0;                          ///< when to ask again for steps without room
  std::optional<double> no_room_since_s_ = {};  ///< and none of ours has ended since
  std::string left_id_;                         ///< of a pilot that is being cancelled
};

}  // namespace doetune::runner
