#include "reports/page/glossary.h"

#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

struct Word {
  const char* name;
  const char* meaning;
};

constexpr Word kWords[] = {
    {"95 % for the mean", "confidence interval of the mean of many runs with the same settings"},
    {"95 % for the next run",
     "prediction interval of one further run: it includes the uncertainty of the mean and the "
     "scatter of runs"},
    {"coded units",
     "a factor's range mapped to -1 (low end) to 1 (high end), on the factor's scale"},
    {"term",
     "a part of the model: a factor (a), an interaction (a*b: each changes the effect of the "
     "other), a square (a^2: curvature), a level (a[x]: relative to the average of all levels)"},
    {"R², adjusted, predicted",
     "the fraction of the variation that the model explains; corrected for the number of its "
     "terms; for runs that are left out of the fit"},
    {"lack of fit",
     "error of the surface beyond the scatter of replicated runs; p is the probability of at least "
     "as much by chance"},
    {"leverage", "the weight of a run's own response in its fitted value"},
    {"Cook's distance", "how much all fitted values change when a run is left out"},
    {"VIF",
     "variance inflation factor: how many times larger the variance of a coefficient is because "
     "terms are correlated"},
    {"power", "the probability of detecting an effect of a given size"},
    {"D-, A- and G-efficiency",
     "precision of all coefficients together, of the coefficients on average, and of the worst "
     "prediction; 100 % is an ideal that few models allow"},
    {"saddle, ridge",
     "a surface that rises in one direction and falls in another; one that is flat along a "
     "direction"},
};

}  // namespace

void write_glossary(Markup& out) {
  open_details("Glossary", out);
  out.open("dl", {{"class", "facts"}});
  for (const Word& word : kWords) {
    out.element("dt", word.name).element("dd", word.meaning);
  }
  out.close().close();
}

}  // namespace doetune::reports
