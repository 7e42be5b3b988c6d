// What the machine reaches at best, measured once and kept.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/cache.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"

namespace doetune::workloads {

/// The peak_rates of a device: the best rate of square matrix products in this precision
/// (operation.h), and the best bandwidth of STREAM's copy and triad on arrays that do not fit the
/// cache. Each is the fastest of some tenths of a second; a GPU that is hot after minutes of work
/// may be slower.
///
/// Measured once, in two or three seconds, and kept in `directory` by device, library, threads and
/// precision; a file that is damaged or of another device is measured anew. Whatever else runs in
/// that moment lowers them: Renewal::always measures again. `threads` are those of a CPU. Throws
/// NoDevice, and CannotRun for a precision that the device lacks.
PeakRates peak_rates_of(std::string_view device, Precision precision, int threads,
                        const std::filesystem::path& directory = cache_directory(),
                        Renewal renewal = Renewal::if_needed);

/// The peak_rates that a kept file's text holds; empty unless it is whole and of the device that
/// `key` names.
std::optional<PeakRates> kept_peak_rates(const std::string& text, const std::string& key);

/// Images per second over those that the roofline allows (roofline_seconds), weights being read
/// once for `batch` images. Above 1 where an engine needs less than the roofline counts: transforms
/// that multiply less (Winograd's, up to 2.25 or 4 times less in a 3 x 3 convolution) and
/// activations that stay in a cache.
double roofline_fraction(const Network& network, int batch, Precision precision,
                         double images_per_s, const PeakRates& peak_rates);

}  // namespace doetune::workloads
