#include "workloads/peak_rates/peak_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "workloads/peak_rates/operation.h"

namespace doetune::workloads {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr int kSmallestGemm = 256;
constexpr double kSlice_s = 0.01;    // duration of runs timed together
constexpr double kMeasure_s = 0.15;  // for each size and kernel
constexpr double kLongRun_s = 0.1;   // no larger matrices after one this slow
constexpr std::int64_t kMinBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;  // touching more takes seconds

/// Seconds of the fastest run.
double best_seconds(Operation& operation) {
  operation.seconds(1);  // first touches, lazy loading of code
  double best = operation.seconds(1);
  double total = best;
  while (total < kMeasure_s) {
    const int repetitions = std::max(1, static_cast<int>(kSlice_s / best));
    const double taken = operation.seconds(repetitions);
    total += taken;
    best = std::min(best, taken / repetitions);
  }
  return best;
}

double best_operations_per_s(Device& device, Precision precision) {
  double best = 0;
  for (int size = kSmallestGemm; size <= device.largest_gemm(); size *= 2) {
    const Gemm gemm{size, size, size, precision};
    const double seconds = best_seconds(*device.prepare(gemm));
    best = std::max(best, gemm.operations() / seconds);
    if (seconds > kLongRun_s) break;
  }
  return best;
}

/// Arrays of four times the cache size, as STREAM requires, within bounds. copy and triad stand for
/// scale and add, which move the same numbers of arrays.
double best_bytes_per_s(Device& device) {
  const std::int64_t bytes = std::clamp(4 * device.cache_bytes(), kMinBytes, kMaxBytes);
  double best = 0;
  for (const CopyKind kind : {CopyKind::copy, CopyKind::triad}) {
    const Copy copy{kind, bytes / 64 * 64};
    best = std::max(best, copy.bytes_moved() / best_seconds(*device.prepare(copy)));
  }
  return best;
}

std::string measured(Device& device, Precision precision, const std::string& key) {
  const double operations = best_operations_per_s(device, precision);
  return Json{{"doetune_ceilings", kFormat},
              {"key", key},
              {"operations_per_s", operations},
              {"bytes_per_s", best_bytes_per_s(device)}}
             .dump(2) +
         '\n';
}

/// If two keys collide, they only overwrite each other's file and are measured again.
std::string file_name(const std::string& key) {
  return fmt::format("ceilings-{:016x}.json", fnv1a(key));
}

}  // namespace

std::optional<PeakRates> kept_peak_rates(const std::string& text, const std::string& key) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("doetune_ceilings", Json()) != kFormat ||
      json.value("key", Json()) != key)
    return std::nullopt;
  const Json operations = json.value("operations_per_s", Json());
  const Json bytes = json.value("bytes_per_s", Json());
  if (!operations.is_number() || !bytes.is_number()) return std::nullopt;
  const PeakRates peak_rates{operations, bytes};
  if (!(peak_rates.operations_per_s > 0 && peak_rates.bytes_per_s > 0)) return std::nullopt;
  return peak_rates;
}

PeakRates peak_rates_of(std::string_view device_name, Precision precision, int threads,
                        const std::filesystem::path& directory, Renewal renewal) {
  const auto device = open_device(device_name, threads);
  const std::string key = fmt::format("{}, {}", device->description(), name_of(precision));
  const std::string text = kept_text(
      directory, file_name(key),
      [&](const std::string& kept) { return kept_peak_rates(kept, key).has_value(); },
      [&] { return measured(*device, precision, key); }, renewal);
  return *kept_peak_rates(text, key);
}

double roofline_fraction(const Network& network, int batch, Precision precision,
                         double images_per_s, const PeakRates& peak_rates) {
  return images_per_s * roofline_seconds(network, batch, bytes_of(precision), peak_rates);
}

}  // namespace doetune::workloads
