#include "workloads/timing/roofline.h"

#include "workloads/peak_rates/peak_rates.h"
#include "workloads/shared_inputs.h"

namespace doetune::workloads {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr const char* kName = "roofline_fraction";

}  // namespace

Input roofline_input() {
  return categories("roofline", {"cached", "measure", "off"},
                    "the device's peak rates: measured once and kept, measured now, or none");
}

std::optional<PeakRates> peak_rates_for(const Request& request, Precision precision) {
  const Inputs& in = request.inputs;
  if (in.text("roofline") == "off") return std::nullopt;
  return peak_rates_of(in.text("device"), precision, threads_of(request), cache_directory(),
                       in.text("roofline") == "measure" ? Renewal::always : Renewal::if_needed);
}

void add_roofline(const std::optional<PeakRates>& peak_rates, double min_s,
                  std::vector<Derived>& responses) {
  if (peak_rates) responses.push_back({kName, [=](double seconds) { return min_s / seconds; }});
}

void add_peak_rate_notes(const std::optional<PeakRates>& peak_rates, Result& result) {
  if (!peak_rates) {
    result.notes[kName] = "roofline is off";
    return;
  }
  result.notes["ceiling_tflop_per_s"] = peak_rates->operations_per_s / kTera;
  result.notes["ceiling_gb_per_s"] = peak_rates->bytes_per_s / kGiga;
}

void add_roofline_fraction(const std::optional<PeakRates>& peak_rates, const Network& network,
                           int batch, Precision precision, int devices, Result& result) {
  add_peak_rate_notes(peak_rates, result);
  if (!peak_rates) return;
  const auto fraction = [&](double images_per_s) {
    return roofline_fraction(network, batch, precision, images_per_s / devices, *peak_rates);
  };
  result.responses[kName] = fraction(result.responses.at("throughput"));
  if (const auto repeats = result.repeats.find("throughput"); repeats != result.repeats.end()) {
    const std::vector<double> rates = repeats->second;
    for (const double rate : rates) result.repeats[kName].push_back(fraction(rate));
  }
  if (const auto known = result.precision.find("throughput"); known != result.precision.end()) {
    const double relative = known->second;
    result.precision[kName] = relative;
  }
}

}  // namespace doetune::workloads
