#include "workloads/peak_rates/operation.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "base/random.h"
#include "workloads/cuda/cuda_library.h"
#include "workloads/peak_rates/cpu_device.h"

namespace doetune::workloads {
namespace {

constexpr std::array<std::pair<CopyKind, std::string_view>, 6> kKinds{
    {{CopyKind::copy, "copy"},
     {CopyKind::scale, "scale"},
     {CopyKind::add, "add"},
     {CopyKind::triad, "triad"},
     {CopyKind::host_to_device, "host-to-device"},
     {CopyKind::device_to_host, "device-to-host"}}};

float drawn(std::uint64_t seed, std::int64_t i) {
  return 2.0F * random_unit(seed, static_cast<std::uint64_t>(i)) - 1.0F;
}

}  // namespace

double Gemm::operations() const {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

double Gemm::bytes() const {
  return bytes_of(precision) * (static_cast<double>(m) * static_cast<double>(k) +
                                static_cast<double>(k) * static_cast<double>(n) +
                                static_cast<double>(m) * static_cast<double>(n));
}

float gemm_a(std::int64_t i) { return drawn(1, i); }
float gemm_b(std::int64_t i) { return drawn(2, i); }
float copy_x(std::int64_t i) { return drawn(3, i); }
float copy_y(std::int64_t i) { return drawn(4, i); }

std::string_view name_of(CopyKind kind) { return kKinds[static_cast<std::size_t>(kind)].second; }

CopyKind copy_kind_named(std::string_view name) {
  for (const auto& [kind, its_name] : kKinds)
    if (its_name == name) return kind;
  throw std::invalid_argument("there is no copy '" + std::string(name) + "'");
}

double Copy::bytes_moved() const {
  const bool three = kind == CopyKind::add || kind == CopyKind::triad;
  const bool one = kind == CopyKind::host_to_device || kind == CopyKind::device_to_host;
  return (three ? 3.0 : one ? 1.0 : 2.0) * static_cast<double>(bytes);
}

std::unique_ptr<Device> open_device(std::string_view name, int threads) {
  const std::string_view device = resolve_device(name);
  device_count(device);  // throws where there is no such device
  if (device == "cuda") return cuda_library().open_device();
  return open_cpu_device(threads);
}

}  // namespace doetune::workloads
