// Static charts: space for labels, and the embedded data.
#include <catch2/catch.hpp>

#include "base/random.h"
#include "reports/figures/svg.h"
#include "reports/figures/ticks.h"
#include "study/tables/csv.h"

using namespace doetune::reports;
using Catch::Contains;

namespace {

Axis levels(const std::vector<std::string>& names) {
  Axis axis{"kind", -0.5, static_cast<double>(names.size()) - 0.5, {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    axis.ticks.push_back({static_cast<double>(i), names[i]});
  }
  return axis;
}

std::string text_between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t start = text.find(from) + from.size();
  return text.substr(start, text.find(to, start) - start);
}

}  // namespace

TEST_CASE("Labels of ticks are short, and all different", "[reports][svg]") {
  CHECK(tick_labels({0, 8388608, 16777216}) == std::vector<std::string>{"0", "8.39M", "16.8M"});
  CHECK(tick_labels({0.002, 0.5, 12.5, 15000}) ==
        std::vector<std::string>{"0.002", "0.5", "12.5", "15000"});
  CHECK(tick_labels({1.5e-7, 3e-7}) == std::vector<std::string>{"1.5e-7", "3e-7"});
  CHECK(tick_labels({-2.5e9, 0}) == std::vector<std::string>{"-2.5G", "0"});
  CHECK(tick_labels({16777216, 16777217}) == std::vector<std::string>{"16.777216M", "16.777217M"});
}

TEST_CASE("Names that would touch are tilted, others are not", "[reports][svg]") {
  const Axis y = linear_axis("y", 0, 1);
  const Chart::Size size{230, 220, 62};
  Chart shorter("a", levels({"trt", "onnx"}), y, size);
  CHECK_THAT(shorter.finish("x"), !Contains("rotate(-35)"));
  Chart longer("b", levels({"tensorrt-fp16", "onnxruntime-fp16", "torch"}), y, size);
  const std::string svg = longer.finish("x");
  CHECK_THAT(svg, Contains("rotate(-35)") && Contains("onnxruntime-f…"));
}

TEST_CASE("Long labels push the axis in, so that nothing is cut off", "[reports][svg]") {
  Axis y{"y", 0, 1, {{0.5, "123456789.5"}}};
  Chart chart("a", levels({"a", "b"}), y, {230, 220, 20});
  // Eleven letters of some 6 pixels each, and the title.
  CHECK(chart.pixel({-0.5, 0}).x > 11 * 6 + 20);
}

TEST_CASE("A chart carries the numbers of its circles and curves", "[reports][svg]") {
  Axis x = levels({"trt", "onnx"});
  x.text = [](double level) { return level == 0 ? std::string("trt") : std::string("onnx"); };
  Chart chart("a", x, linear_axis("latency [ms]", 0, 40));
  chart.circle({0, 12.5}, 4, {{"fill", "red"}}, "run 7: 12.5 ms");
  chart.curve({{0, 1}, {1, 2}}, "mean", {{"stroke", "red"}});
  const auto rows =
      doetune::study::parse_csv(text_between(chart.finish("x"), "<metadata>", "</metadata>"));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].cells == std::vector<std::string>{"name", "kind", "latency [ms]"});
  CHECK(rows[1].cells == std::vector<std::string>{"run 7", "trt", "12.5"});
  CHECK(rows[3].cells == std::vector<std::string>{"mean", "onnx", "2"});
}

TEST_CASE("A thousand circles cost little", "[reports][svg]") {
  Chart chart("a", linear_axis("x", 0, 1000), linear_axis("y", 0, 1));
  for (int i = 0; i < 1000; ++i) {
    chart.circle({i + 0.0, 0.5}, 4, {{"fill", "red"}}, "run " + std::to_string(i));
  }
  const std::string svg = chart.finish("x");
  CHECK_THAT(svg, !Contains("<circle"));
  CHECK(svg.size() < 50'000);
}

TEST_CASE("Of tens of thousands of circles those are drawn that do not cover each other",
          "[reports][svg]") {
  Chart chart("a", linear_axis("x", 0, 1000), linear_axis("y", 0, 1000));
  doetune::RandomStream random(7, 0);
  for (int i = 0; i < 50'000; ++i) {
    chart.circle({random.uniform() * 400, random.uniform() * 400}, 4, {{"fill", "red"}}, "cloud");
  }
  chart.circle({900, 900}, 4, {{"fill", "red"}}, "alone: 900");
  const std::string svg = chart.finish("x");
  CHECK(svg.size() < 400'000);
  CHECK_THAT(svg, Contains("of 50001 points drawn"));
  const auto rows = doetune::study::parse_csv(text_between(svg, "<metadata>", "</metadata>"));
  std::size_t dots = 0;
  for (std::size_t at = 0; (at = svg.find("h0", at)) != std::string::npos; ++at) ++dots;
  CHECK(dots > 500);
  CHECK(dots <= 5000);
  CHECK(rows.size() == dots + 1);  // the numbers are those of what is drawn
  CHECK(rows.back().cells == std::vector<std::string>{"alone", "900", "900"});
}
