// The operations with which peak rates are measured, matrix products and copies, and the
// device-independent interface that runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"

namespace doetune::workloads {

/// C = A B with A of m x k and B of k x n numbers, row-major, drawn from [-1, 1): products of zeros
/// draw less power and run faster. With `transpose_b`, B is stored as n x k. Sums are fp32; C has
/// the precision of A and B.
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Precision precision = Precision::fp32;
  bool transpose_b = false;

  double operations() const;  ///< a multiply-accumulate is two
  double bytes() const;       ///< A and B read once, C written once
};

/// Seconds at the peak rates: the larger of operations over their rate and bytes over theirs.
double roofline_seconds(const Gemm& gemm, const PeakRates& peak_rates);

/// Element i of A and of B, in storage order.
float gemm_a(std::int64_t i);
float gemm_b(std::int64_t i);

/// The kernels of STREAM on three arrays x, y, z (copy: z = x, scale: z = s x, add: z = x + y,
/// triad: z = x + s y), and copies between host and device. Source: McCalpin (1995), "Memory
/// bandwidth and machine balance in current high performance computers".
enum class CopyKind { copy, scale, add, triad, host_to_device, device_to_host };
inline constexpr float kCopyScalar = 3.0F;  // s

std::string_view name_of(CopyKind kind);
/// Throws std::invalid_argument for an unknown name.
CopyKind copy_kind_named(std::string_view name);

struct Copy {
  CopyKind kind = CopyKind::copy;
  std::int64_t bytes = 0;  ///< size of one array of floats, a multiple of 64
  bool pinned = true;      ///< host memory of host-device copies

  /// Counted as by STREAM: each array read or written counts once. What caches read before they
  /// write (write-allocate) is not counted. A copy between host and device counts once.
  double bytes_moved() const;
};

/// Element i of x and of y.
float copy_x(std::int64_t i);
float copy_y(std::int64_t i);

/// An operation that is prepared once and run repeatedly.
class Operation {
 public:
  virtual ~Operation() = default;

  /// Seconds for this number of consecutive runs, up to the end of the last one, by the device's
  /// clock.
  virtual double seconds(int repetitions) = 0;

  /// The output of a run: C row by row, or the array written.
  virtual std::vector<float> result() = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// Both throw CannotRun for what the device lacks, memory included.
  virtual std::unique_ptr<Operation> prepare(const Gemm& gemm) = 0;
  virtual std::unique_ptr<Operation> prepare(const Copy& copy) = 0;

  /// Names of hardware, driver and library, on which the rates depend.
  virtual std::string description() const = 0;

  /// Of the last-level cache, in bytes.
  virtual std::int64_t cache_bytes() const = 0;

  /// The edge of the largest matrices worth trying when searching for the peak rate.
  virtual int largest_gemm() const = 0;
};

/// The device by name, or for "auto"; `threads` is for the CPU. Throws NoDevice.
std::unique_ptr<Device> open_device(std::string_view name, int threads);

}  // namespace doetune::workloads
