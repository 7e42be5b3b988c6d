// libdoetune_spark.so: what the Python of a Spark application calls, by a C interface.
//
// Texts are UTF-8 and valid until the next call. What fails returns {"error": message,
// "infeasible": true or false}; the settings are infeasible where the machine cannot run them.
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "workloads/cache.h"
#include "workloads/spark/spark_executor.h"
#include "workloads/stream/stream_inputs.h"

namespace {

using namespace doetune::workloads;

/// What this process holds, from one task to the next.
template <class Held>
struct Kept {
  std::string configuration;
  std::unique_ptr<Held> held;

  Held& with(const char* text) {
    if (held && configuration == text) return *held;
    held.reset();  // its memory first
    held = std::make_unique<Held>(spark_configuration(text));
    configuration = text;
    return *held;
  }
};

/// The cameras' coded video.
struct Cameras {
  SparkConfiguration configuration;
  doetune::FileDescriptor file;
  Clip clip;

  explicit Cameras(SparkConfiguration given)
      : configuration(std::move(given)),
        file(open_clip(clip_spec(configuration.request), cache_directory())),
        clip(Clip::read(file.get(), false).value()) {}
};

Kept<SparkExecutor> kept_executor;
Kept<Cameras> kept_cameras;
std::string last_answer;
std::vector<std::byte> last_share;

const char* answer(const Json& json) {
  last_answer = json.dump();
  return last_answer.c_str();
}

/// The answer that `make` returns, or its error.
template <class Make>
const char* answered(Make make) {
  const auto error = [](const std::string& message, bool infeasible) {
    return answer({{"error", message}, {"infeasible", infeasible}});
  };
  try {
    return answer(make());
  } catch (const Infeasible& failure) {
    return error(failure.what(), true);
  } catch (const std::bad_alloc&) {
    return error("not enough memory for these settings", true);
  } catch (const std::exception& failure) {
    return error(failure.what(), false);
  }
}

}  // namespace

extern "C" {

/// In an executor's worker: analyses a share with the network of the configuration, which is loaded
/// unless the last call had the same. Returns what SparkExecutor::process does.
const char* doetune_spark_analyse(const char* configuration, const std::byte* share,
                                  std::size_t bytes) {
  return answered([&] { return kept_executor.with(configuration).process({share, bytes}); });
}

/// In the driver: the coded frames of a share; see share_data. With `micro_batch` below 0, a share
/// without frames. Returns {"bytes": n}.
const char* doetune_spark_share(const char* configuration, long micro_batch, int share) {
  return answered([&] {
    Cameras& cameras = kept_cameras.with(configuration);
    std::vector<StreamFrame> frames;
    if (micro_batch >= 0) frames = frames_of_share(cameras.configuration, micro_batch, share);
    last_share = to_bytes(cameras.clip, micro_batch, share, frames);
    return Json{{"bytes", last_share.size()}};
  });
}

/// The bytes of the last share, valid until the next one.
const std::byte* doetune_spark_share_data() { return last_share.data(); }
}
