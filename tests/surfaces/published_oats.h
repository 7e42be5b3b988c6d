// A split-plot experiment on oats in six blocks: in each block three whole plots of one variety
// each (Golden Rain, Marvellous, Victory as 0, 1, 2), in each whole plot four amounts of manure.
// Yield in quarter pounds.
// Source: Yates (1935), "Complex experiments", Supplement to the Journal of the Royal Statistical
// Society 2, 181-247; the order of R's MASS::oats.
#pragma once

#include <array>

namespace doetune::tests {

inline constexpr std::array<int, 3> kOatVarieties{2, 0, 1};  ///< of the whole plots in each block

/// Indexed by block, whole plot, manure.
inline constexpr std::array<std::array<double, 4>, 18> kOatYields{{
    {111, 130, 157, 174},
    {117, 114, 161, 141},
    {105, 140, 118, 156},
    {61, 91, 97, 100},
    {70, 108, 126, 149},
    {96, 124, 121, 144},
    {68, 64, 112, 86},
    {60, 102, 89, 96},
    {89, 129, 132, 124},
    {74, 89, 81, 122},
    {64, 103, 132, 133},
    {70, 89, 104, 117},
    {62, 90, 100, 116},
    {80, 82, 94, 126},
    {63, 70, 109, 99},
    {53, 74, 118, 113},
    {89, 82, 86, 104},
    {97, 99, 119, 121},
}};

}  // namespace doetune::tests
