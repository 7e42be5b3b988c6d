// The Spark application of a run, and the stream that it processes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/processes/child_process.h"
#include "workloads/spark/spark_executor.h"
#include "workloads/stream/stream.h"

namespace doetune::workloads {

/// Becomes an application that serves one stream after another: HOST:PORT, then inputs as on the
/// command line. Throws UsageError, and std::system_error if it cannot be started.
[[noreturn]] void serve_spark_streams(const std::vector<std::string>& arguments);

/// The connection to an application: the request's server, or one that is started for this object
/// and ends with it.
class SparkApplication {
 public:
  /// Returns when there is a connection. Throws std::runtime_error where there is no Spark or no
  /// Java, the server cannot be reached, or `limit` has come.
  SparkApplication(const SparkConfiguration& configuration, Clock::time_point limit);
  ~SparkApplication();
  SparkApplication(const SparkApplication&) = delete;
  SparkApplication& operator=(const SparkApplication&) = delete;

  /// Asks for the stream.
  void ask(const SparkConfiguration& configuration);
  /// The next message. Throws Infeasible, and std::runtime_error where the application tells a
  /// failure or ends, or the limit has come.
  Json receive();

 private:
  void connect(const ServerAddress& server);
  void start(const SparkConfiguration& configuration);
  void finish_stream();

  std::filesystem::path folder_;  ///< of the stream's files, removed with it
  Clock::time_point limit_;
  std::optional<ChildProcess> process_;
  FileDescriptor connection_;
  std::string received_;
};

/// A stream that an application processes.
class SparkStream final : public MeasurableStream {
 public:
  /// Returns when the executors have loaded their networks and the stream begins. Throws what
  /// SparkApplication throws.
  SparkStream(const SparkConfiguration& configuration, Clock::time_point limit);

  /// The micro-batches of this many seconds of stream time, without recording.
  void warm_up(double stream_s);

  StreamMeasurement measure(const measurement::StoppingRule& rule) override;
  double since_start_s(Clock::time_point time) const override;

  /// The mean time that Spark takes for a micro-batch without images.
  double empty_s() const { return empty_s_; }

  /// The mean times of the phases of the last measurement's micro-batches, by Spark's names.
  std::map<std::string, double> phases_s() const;

 private:
  MicroBatch next();

  SparkApplication application_;
  double interval_s_;
  Clock::time_point origin_ = {};
  double empty_s_ = 0;
  std::vector<std::map<std::string, double>> phases_ms_;  ///< of each micro-batch measured
};

}  // namespace doetune::workloads
