#include <catch2/catch.hpp>

#include <cmath>

#include "workloads/networks/detection.h"

using namespace doetune;
using namespace doetune::workloads;

TEST_CASE("a box is decoded by the equations of YOLOv2", "[detection]") {
  // One anchor (2, 3), 2 classes, a grid of 1 row x 2 columns; only the right cell is confident.
  const DetectionHead head{{{2.0F, 3.0F}}, 2};
  const Shape shape{7, 1, 2};
  const std::vector<float> output{0,
                                  0,
                                  0,
                                  0,
                                  -20,
                                  0,
                                  0,  //
                                  0,
                                  std::log(3.0F),
                                  std::log(2.0F),
                                  0,
                                  20,
                                  0,
                                  std::log(3.0F)};
  const auto boxes = decode_boxes(output, shape, head, 0.5F);
  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0].x == Approx((1 + 0.5) / 2));    // sigmoid(0) = 1/2
  CHECK(boxes[0].y == Approx(0.75));             // sigmoid(log 3) = 3/4
  CHECK(boxes[0].width == Approx(2 * 2.0 / 2));  // anchor 2, exp(log 2), 2 columns
  CHECK(boxes[0].height == Approx(3.0));
  CHECK(boxes[0].class_index == 1);
  CHECK(boxes[0].confidence == Approx(0.75));  // softmax(0, log 3) = (1/4, 3/4)
  CHECK(decode_boxes(output, shape, head, 0.76F).empty());
}

TEST_CASE("huge logits decode to finite numbers", "[detection]") {
  const DetectionHead head{{{1.0F, 1.0F}}, 2};
  const auto boxes =
      decode_boxes(std::vector<float>{500, -500, 0, 0, 500, 1000, -1000}, {7, 1, 1}, head, 0.5F);
  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0].confidence == 1.0F);
  CHECK(boxes[0].x == 1.0F);
  CHECK(boxes[0].y == 0.0F);
}

TEST_CASE("overlap is intersection over union", "[detection]") {
  const Detection a{0.5F, 0.5F, 0.2F, 0.2F, 0, 1};
  CHECK(overlap(a, a) == Approx(1.0));
  CHECK(overlap(a, {0.6F, 0.5F, 0.2F, 0.2F, 0, 1}) ==
        Approx(1.0 / 3));  // half of each: 1/2 / (1 + 1/2)
  CHECK(overlap(a, {0.5F, 0.5F, 0.1F, 0.1F, 0, 1}) == Approx(0.25));  // inside
  CHECK(overlap(a, {0.9F, 0.5F, 0.2F, 0.2F, 0, 1}) == 0.0F);
  CHECK(overlap({0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}) == 0.0F);  // no area
}

TEST_CASE("suppression keeps the best of each class and those it does not cover", "[detection]") {
  const Detection best{0.5F, 0.5F, 0.2F, 0.2F, 0, 0.9F};
  const Detection near_best{0.51F, 0.5F, 0.2F, 0.2F, 0, 0.8F};
  const Detection other_class{0.5F, 0.5F, 0.2F, 0.2F, 1, 0.7F};
  const Detection elsewhere{0.2F, 0.2F, 0.2F, 0.2F, 0, 0.6F};
  const auto kept = suppress_overlaps({elsewhere, near_best, other_class, best}, 0.45F);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].confidence == 0.9F);
  CHECK(kept[1].confidence == 0.7F);
  CHECK(kept[2].confidence == 0.6F);
}

TEST_CASE("a suppressed box suppresses nothing", "[detection]") {
  // b overlaps a, c overlaps b but not a: greedy suppression keeps a and c.
  const auto kept = suppress_overlaps({{0.50F, 0.5F, 0.2F, 0.2F, 0, 0.9F},
                                       {0.56F, 0.5F, 0.2F, 0.2F, 0, 0.8F},
                                       {0.62F, 0.5F, 0.2F, 0.2F, 0, 0.7F}},
                                      0.45F);
  REQUIRE(kept.size() == 2);
  CHECK(kept[1].confidence == 0.7F);
}
