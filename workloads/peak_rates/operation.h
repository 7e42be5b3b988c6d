// Matrix products and copies on a device: what the peak rates of a machine are measured with.
// Nothing here names a device library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"

namespace doetune::workloads {

/// C = A B, A of m x k and B of k x n numbers, row by row, drawn from [-1, 1): products of zeros
/// draw less power, and run faster. With `transpose_b`, B lies in memory as n x k. Sums are fp32;
/// C has the precision of A and B.
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

/// Element i of A and of B, in the order in which they lie in memory.
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
  std::int64_t bytes = 0;  ///< of one array of floats, a multiple of 64
  bool pinned = true;      ///< host memory of copies between host and device

  /// Counted as STREAM does: each array that is read or written, once. What caches read before
  /// they write (write-allocate) is not counted. A copy between host and device counts once.
  double bytes_moved() const;
};

/// Element i of x and of y.
float copy_x(std::int64_t i);
float copy_y(std::int64_t i);

/// Made ready once, then run over and over.
class Operation {
 public:
  virtual ~Operation() = default;

  /// Seconds that so many runs take, one after another, up to the end of the last one, by the
  /// device's clock.
  virtual double seconds(int repetitions) = 0;

  /// What a run leaves: C row by row, or the array that was written.
  virtual std::vector<float> result() = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// Both throw CannotRun for what the device lacks, memory included.
  virtual std::unique_ptr<Operation> prepare(const Gemm& gemm) = 0;
  virtual std::unique_ptr<Operation> prepare(const Copy& copy) = 0;

  /// Hardware, driver and library in words: what its rates depend on.
  virtual std::string description() const = 0;

  /// Of the last level, in bytes.
  virtual std::int64_t cache_bytes() const = 0;

  /// The edge of the largest matrices worth trying for its best rate.
  virtual int largest_gemm() const = 0;
};

/// The device by name, or for "auto"; `threads` are those of a CPU. Throws NoDevice.
std::unique_ptr<Device> open_device(std::string_view name, int threads);

}  // namespace doetune::workloads
