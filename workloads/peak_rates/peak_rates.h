// The peak rates of a device, measured once and cached.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/cache.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"

namespace doetune::workloads {

/// The peak rates of a device: the maximum rate of square matrix products in this precision
/// (operation.h), and the maximum bandwidth of STREAM's copy and triad on arrays larger than the
/// cache. Each is the fastest run within some tenths of a second; a GPU that is hot after minutes
/// of work may be slower.
///
/// Measured once, in two or three seconds, and cached in `directory` by device, library, threads
/// and precision; a file that is damaged or of another device is measured again. Other load during
/// the measurement lowers the rates: Renewal::always measures again. `threads` is for the CPU.
/// Throws NoDevice, and CannotRun for a precision that the device lacks.
PeakRates peak_rates_of(std::string_view device, Precision precision, int threads,
                        const std::filesystem::path& directory = cache_directory(),
                        Renewal renewal = Renewal::if_needed);

/// The peak rates in the text of a cache file; empty unless it is complete and for the device that
/// `key` names.
std::optional<PeakRates> kept_peak_rates(const std::string& text, const std::string& key);

/// Images per second over the roofline's (roofline_seconds), with weights read once per `batch`
/// images. Above 1 where an engine does less than the roofline counts: fewer multiplications
/// (Winograd transforms save a factor of up to 2.25 or 4 in a 3 x 3 convolution), or activations
/// that stay in a cache.
double roofline_fraction(const Network& network, int batch, Precision precision,
                         double images_per_s, const PeakRates& peak_rates);

}  // namespace doetune::workloads
