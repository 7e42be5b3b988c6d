// Runs attempts as tasks of one Spark application.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/launchers/client_launcher.h"

namespace doetune::runner {

/// Starts one application with `spark-submit` that lives as long as this object; each attempt is
/// one of its tasks, which runs doetune-attempt in an executor. All processes of a run are in one
/// task. Both sides exchange files in STUDY/spark (spark_application.h).
///
/// If the application ends, another one is started and asked for what had not begun; after three in
/// which no attempt began, or if the first never had a Spark context, wait() throws RunError. If
/// doetune is killed, the driver ends with it, and the executors with the driver.
class SparkLauncher : public ClientLauncher {
 public:
  explicit SparkLauncher(LauncherRequest request);
  ~SparkLauncher() override;

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;

 protected:
  std::optional<int> start_client(const Attempt& attempt) override;
  AttemptEnd not_begun(const Attempt& attempt, const ClientAnswer& answer) override;
  void had_begun(const std::string&) override { fruitless_ = 0; }

 private:
  std::vector<std::string> submission() const;
  void start_application();
  void application_ended(const ClientAnswer& answer);
  void ask(const Attempt& attempt) const;
  void read_answers();
  void keep_alive();

  std::filesystem::path queue_;  ///< STUDY/spark/PID.N: another one for each application, so that
                                 ///< the driver of an earlier one takes no part
  int applications_ = 0;
  bool running_ = false;      ///< whether spark-submit runs
  bool ending_ = false;       ///< whether the application was asked to end
  bool had_context_ = false;  ///< whether an application has got as far as a Spark context
  int fruitless_ = 0;         ///< consecutive applications in which no attempt began
  double kept_alive_s_ = 0;
  std::string problem_;  ///< why no further application is started
};

}  // namespace doetune::runner
