#include "reports/page/glossary.h"

#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

struct Word {
  const char* name;
  const char* meaning;
};

constexpr Word kWords[] = {
    {"95 % for the mean",
     "where the mean of many runs at the same settings lies, with 95 % confidence"},
    {"95 % for the next run",
     "where one further run lies, with 95 % probability: the mean may be off, and runs scatter "
     "about it"},
    {"coded units",
     "a factor's range from -1 (its low end) over 0 (the middle) to 1 (its high end), on its "
     "scale"},
    {"term",
     "a part of the model: a factor (a), a product (a*b: each changes the effect of the other), a "
     "square (a^2: curvature), a level (a[x]: against the average of all levels)"},
    {"R², adjusted, predicted",
     "the share of the variation that the model explains; less what its terms explain by chance; "
     "of "
     "runs that were left out of the fit"},
    {"lack of fit",
     "what the surface misses beyond the scatter of replicated runs; p is the probability of as "
     "much "
     "by chance"},
    {"leverage", "the share of a run's own response in the value fitted there"},
    {"Cook's distance", "how far all fitted values move when a run is left out"},
    {"VIF", "how many times larger the variance of a coefficient is because terms are correlated"},
    {"power", "the probability that the design finds an effect of a given size"},
    {"D-, A- and G-efficiency",
     "how well the runs determine all coefficients together, on average, and the worst prediction; "
     "100 % is an ideal that few models allow"},
    {"saddle, ridge",
     "a surface that rises one way and falls another; one that is level along a direction"},
};

}  // namespace

void write_glossary(Markup& out) {
  open_details("What the words mean", out);
  out.open("dl", {{"class", "facts"}});
  for (const Word& word : kWords) {
    out.element("dt", word.name).element("dd", word.meaning);
  }
  out.close().close();
}

}  // namespace doetune::reports
