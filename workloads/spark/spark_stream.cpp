#include "workloads/spark/spark_stream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>

#include "base/files.h"
#include "workloads/cache.h"
#include "workloads/optional_library.h"
#include "workloads/spark/spark_application.h"
#include "workloads/workloads.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

constexpr auto kEnd = std::chrono::seconds(10);         // for the application, before it is killed
constexpr auto kLook = std::chrono::milliseconds(200);  // between two looks at the application
constexpr const char* kLibrary = "libdoetune_spark.so";

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A new folder that driver and executors share: in the input `folder`, else beside the result.
fs::path new_folder(const Inputs& in) {
  const char* result = std::getenv("DOETUNE_RESULT");
  fs::path parent = in.has("folder")    ? fs::path(in.text("folder"))
                    : result != nullptr ? fs::path(result).parent_path()
                                        : fs::temp_directory_path();
  std::string name = (fs::absolute(parent) / "spark-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail("cannot make a folder in " + parent.string());
  return name;
}

void remove_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

struct Configured {
  std::string name, value;
};

/// One executor of Spark's for each of ours on CPUs. On GPUs Spark assigns a whole GPU to each of
/// its executors, and our executors are the tasks that share it.
std::vector<Configured> resources(const SparkConfiguration& configuration) {
  const Inputs& in = configuration.request.inputs;
  const int gpus = in.integer("gpus");
  if (gpus == 0) {
    return {{"spark.executor.instances", fmt::format("{}", configuration.executors)},
            {"spark.executor.cores", "1"}};
  }
  const int shared_by = in.integer("executors_per_gpu");
  return {{"spark.executor.instances", fmt::format("{}", gpus)},
          {"spark.executor.cores", fmt::format("{}", shared_by)},
          {"spark.executor.resource.gpu.amount", "1"},
          {"spark.task.resource.gpu.amount", fmt::format("{}", 1.0 / shared_by)}};
}

FileDescriptor listening_socket() {
  FileDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* address = reinterpret_cast<const sockaddr*>(&any);
  if (!made || ::bind(made.get(), address, sizeof any) != 0 || ::listen(made.get(), 1) != 0)
    fail("cannot listen for Spark's application");
  return made;
}

int port_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

/// Whether something can be read or accepted soon.
bool readable(const FileDescriptor& socket) {
  pollfd waiting{socket.get(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(kLook.count())) > 0;
}

/// Throws std::runtime_error, which says why there is no connection.
FileDescriptor connected_to(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  if (code != 0) throw std::runtime_error(::gai_strerror(code));
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    FileDescriptor made(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (made && ::connect(made.get(), at->ai_addr, at->ai_addrlen) == 0) return made;
  }
  throw std::runtime_error(std::strerror(errno));
}

/// Throws std::runtime_error where no master of the standalone cluster that is asked for,
/// `spark://HOST:PORT,HOST:PORT`, listens: Spark itself would try for a minute.
void check_master(const Inputs& in) {
  constexpr std::string_view kStandalone = "spark://";
  const std::string master = in.has("master") ? in.text("master") : "";
  if (!master.starts_with(kStandalone)) return;
  std::string why;
  std::istringstream addresses(master.substr(kStandalone.size()));
  for (std::string address; std::getline(addresses, address, ',');) {
    const std::size_t colon = std::min(address.rfind(':'), address.size());
    try {
      connected_to(address.substr(0, colon), address.substr(std::min(colon + 1, address.size())));
      return;
    } catch (const std::runtime_error& error) {
      why = error.what();
    }
  }
  throw std::runtime_error(fmt::format("the master {} cannot be reached: {}", master, why));
}

std::string default_master(const SparkConfiguration& configuration) {
  const int gpus = configuration.request.inputs.integer("gpus");
  const int workers = gpus == 0 ? configuration.executors : gpus;
  return fmt::format("local-cluster[{},{},1024]", workers, configuration.executors / workers);
}

/// The command that starts the application: `mode` is "listen" or "connect".
std::vector<std::string> spark_command(const SparkConfiguration& configuration,
                                       const fs::path& application, const std::string& mode,
                                       const std::string& host, int port) {
  const Inputs& in = configuration.request.inputs;
  const bool here = !in.has("master");
  std::vector<Configured> configured = resources(configuration);
  configured.insert(configured.end(),
                    {{"spark.ui.showConsoleProgress", "false"},
                     {"spark.log.level", "ERROR"},
                     {"spark.locality.wait", "0s"},
                     // What has been analysed may be removed while Spark lists what is there.
                     {"spark.sql.files.ignoreMissingFiles", "true"},
                     {"spark.sql.files.minPartitionNum", std::to_string(configuration.executors)},
                     {"spark.executorEnv.OMP_NUM_THREADS", std::to_string(configuration.threads)},
                     {"spark.executorEnv.GOMP_SPINCOUNT", "1000"}});
  if (here) {
    setenv("SPARK_LOCAL_IP", "127.0.0.1", 0);
    configured.insert(configured.end(), {{"spark.ui.enabled", "false"},
                                         {"spark.executor.memory", "512m"},
                                         {"spark.driver.memory", "512m"}});
    if (mode == "connect")
      configured.push_back({"spark.local.dir", application.parent_path().string()});
  }
  std::vector<std::string> command{in.text("submit"), "--name", "doetune-stream", "--master",
                                   here ? default_master(configuration) : in.text("master")};
  for (const auto& [name, value] : configured)
    command.insert(command.end(), {"--conf", fmt::format("{}={}", name, value)});
  if (in.has("spark_options"))
    for (std::string& word : words_of(in.text("spark_options"))) command.push_back(std::move(word));
  command.insert(command.end(), {application.string(), mode, host, std::to_string(port)});
  return command;
}

}  // namespace

void serve_spark_streams(const std::vector<std::string>& arguments) {
  const std::string& address = arguments.at(0);
  const std::size_t colon = std::min(address.rfind(':'), address.size());
  const int port = colon < address.size() ? std::atoi(address.c_str() + colon + 1) : 0;
  if (port <= 0 || port > 65535)
    throw UsageError(fmt::format("--serve takes HOST:PORT, not '{}'", address));
  const Request request = parse_command_line(spark_stream_inference_workload(),
                                             {arguments.begin() + 1, arguments.end()});
  check_master(request.inputs);
  fs::path folder = cache_directory();
  if (folder.empty()) folder = fs::temp_directory_path();
  fs::create_directories(folder);
  const fs::path application = folder / fmt::format("spark-stream-{}.py", ::getuid());
  replace_file(application, kStreamApplication);
  std::vector<std::string> command = spark_command(spark_configuration(request), application,
                                                   "listen", address.substr(0, colon), port);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  fail("cannot start " + command.front());
}

SparkApplication::SparkApplication(const SparkConfiguration& configuration, Clock::time_point limit)
    : folder_(new_folder(configuration.request.inputs)), limit_(limit) {
  try {
    if (configuration.request.server)
      connect(*configuration.request.server);
    else
      start(configuration);
  } catch (...) {
    remove_folder(folder_);
    throw;
  }
}

SparkApplication::~SparkApplication() {
  finish_stream();
  if (process_) process_->end_by(Clock::now() + kEnd);
  remove_folder(folder_);
}

/// The application closes its side when no query uses the folder any more.
void SparkApplication::finish_stream() {
  ::shutdown(connection_.get(), SHUT_WR);
  const auto until = Clock::now() + kEnd;
  char ignored[4096];
  while (Clock::now() < until) {
    if (!readable(connection_)) continue;
    if (::read(connection_.get(), ignored, sizeof ignored) <= 0) break;
  }
  connection_.close();
}

void SparkApplication::connect(const ServerAddress& server) {
  try {
    connection_ = connected_to(server.host, std::to_string(server.port));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot reach Spark's application at {}:{}: {}",
                                         server.host, server.port, error.what()));
  }
}

void SparkApplication::start(const SparkConfiguration& configuration) {
  check_master(configuration.request.inputs);
  const FileDescriptor listening = listening_socket();
  const fs::path application = folder_ / "application.py";
  replace_file(application, kStreamApplication);
  ChildStart command{
      spark_command(configuration, application, "connect", "127.0.0.1", port_of(listening))};
  command.program = command.arguments.front();
  command.end_signal = SIGTERM;  // so that Spark ends its executors
  process_.emplace(command);
  while (!readable(listening)) {
    if (process_->ended())
      throw std::runtime_error(fmt::format(
          "{} ended before there was an application; its output is above. The workload needs "
          "Spark (pip install 'pyspark[sql]', in a virtual environment) and Java (Debian: "
          "openjdk-17-jre-headless) in PATH",
          command.program));
    if (Clock::now() > limit_)
      throw std::runtime_error("the time limit was reached before Spark's application started");
  }
  connection_ = FileDescriptor(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection_) fail("cannot accept Spark's application");
}

void SparkApplication::ask(const SparkConfiguration& configuration) {
  const Inputs& in = configuration.request.inputs;
  const fs::path library = own_library(kLibrary);
  if (library.empty()) throw std::runtime_error(fmt::format("{} is not installed", kLibrary));
  const Json asked = {
      {"folder", folder_.string()},
      {"library", library.string()},
      {"configuration", to_text(configuration)},
      {"executors", configuration.executors},
      {"interval", in.number("interval")},
      {"realtime", in.text("arrival") == "realtime"},
      {"queue_limit", in.has("queue_limit") ? Json(in.integer("queue_limit")) : Json()}};
  const std::string line = asked.dump() + '\n';
  if (!write_all(connection_.get(), std::as_bytes(std::span(line))))
    fail("cannot write to Spark's application");
}

Json SparkApplication::receive() {
  std::size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    if (Clock::now() > limit_)
      throw std::runtime_error(
          "the time limit was reached before Spark's next micro-batch was done");
    if (!readable(connection_)) continue;
    char part[4096];
    const ssize_t size = ::read(connection_.get(), part, sizeof part);
    if (size <= 0) throw std::runtime_error("Spark's application has ended; its output is above");
    received_.append(part, static_cast<std::size_t>(size));
  }
  Json message = Json::parse(received_.substr(0, end));
  received_.erase(0, end + 1);
  if (!message.contains("error")) return message;
  const std::string why = "Spark: " + message.at("error").get<std::string>();
  if (message.at("infeasible").get<bool>()) throw Infeasible(why);
  throw std::runtime_error(why);
}

SparkStream::SparkStream(const SparkConfiguration& configuration, Clock::time_point limit)
    : application_(configuration, limit),
      interval_s_(configuration.request.inputs.number("interval")) {
  application_.ask(configuration);
  empty_s_ = application_.receive().at("empty_s").get<double>();
  origin_ = Clock::now();
}

MicroBatch SparkStream::next() {
  const Json message = application_.receive();
  const auto number = [&](const char* name) { return message.at(name).get<double>(); };
  MicroBatch batch;
  batch.ready_s = number("ready_s");
  batch.start_s = number("start_s");
  batch.done_s = batch.start_s + number("processing_s");
  batch.dropped = message.at("dropped").get<std::int64_t>();
  batch.longest_share_s = number("longest_share_s");
  phases_ms_.push_back(message.at("phases_ms").get<std::map<std::string, double>>());
  batch.work = {message.at("micro_batch").get<std::int64_t>(),
                message.at("images").get<std::int64_t>(),
                message.at("detections").get<std::int64_t>(),
                number("decode_s"),
                number("resize_s"),
                number("infer_s"),
                number("boxes_s"),
                number("elapsed_s")};
  return batch;
}

void SparkStream::warm_up(double stream_s) {
  for (auto left = static_cast<int>(std::ceil(stream_s / interval_s_)); left > 0; --left) next();
}

StreamMeasurement SparkStream::measure(const measurement::StoppingRule& rule) {
  phases_ms_.clear();
  std::optional<MicroBatch> first = next();
  const bool in_time = first->delay_s() < interval_s_;
  const double start_s = in_time ? first->ready_s - interval_s_ : first->start_s;
  const auto next_batch = [&] {
    if (!first) return next();
    return *std::exchange(first, std::nullopt);
  };
  return measure_batches(next_batch, rule, start_s,
                         std::chrono::duration<double>(origin_.time_since_epoch()).count());
}

std::map<std::string, double> SparkStream::phases_s() const {
  std::map<std::string, double> means;
  const double share = 1e-3 / static_cast<double>(phases_ms_.size());
  for (const auto& phases : phases_ms_)
    for (const auto& [name, ms] : phases) means[name] += ms * share;
  return means;
}

double SparkStream::since_start_s(Clock::time_point time) const {
  return std::chrono::duration<double>(time - origin_).count();
}

}  // namespace doetune::workloads
