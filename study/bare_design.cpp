#include "study/bare_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "study/directory/directory.h"
#include "study/file/yaml.h"
#include "study/plan.h"
#include "study/tables/csv.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

doe::Model model_of(const std::string& text, const std::vector<doe::Factor>& factors) {
  const std::vector<std::string>& names = doe::Model::names();
  try {
    if (std::find(names.begin(), names.end(), text) != names.end()) {
      return doe::Model::named(text, factors);
    }
    std::vector<std::string> terms;
    std::istringstream list(text);
    for (std::string term; std::getline(list, term, ',');) terms.push_back(term);
    if (terms.empty()) throw doe::ModelError("it has no terms");
    return doe::Model::parse(terms, factors);
  } catch (const doe::ModelError& error) {
    const std::string problem = error.what();
    throw StudyError(problem.starts_with("model term")
                         ? problem
                         : fmt::format("model '{:.60}': {}", text, problem));
  }
}

/// A factor from the cells of its column: numeric if all cells are numbers, otherwise categorical.
doe::Factor factor_of(const std::string& name, const std::vector<std::string>& cells) {
  doe::Factor factor;
  factor.name = name;
  std::set<double> values;
  for (const std::string& cell : cells) {
    if (const auto number = parse_number(cell)) values.insert(*number);
  }
  const bool numeric = std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return parse_number(cell).has_value();
  });
  if (numeric) {
    factor.low = *values.begin();
    factor.high = *values.rbegin();
  } else {
    factor.kind = doe::FactorKind::kCategorical;
    const std::set<std::string> levels(cells.begin(), cells.end());
    factor.level_names.assign(levels.begin(), levels.end());
  }
  const std::size_t settings = numeric ? values.size() : factor.level_names.size();
  if (settings < 2) throw CsvError(1, fmt::format("column '{:.60}' never changes", name));
  return factor;
}

BareDesign design_of_table(const fs::path& file) {
  const std::vector<CsvRow> rows = parse_csv_table(read_file(file));
  BareDesign design;
  std::vector<std::vector<double>> columns;
  for (std::size_t c = 0; c < rows[0].cells.size(); ++c) {
    const std::string& name = rows[0].cells[c];
    if (is_reserved_name(name)) continue;
    if (std::count(rows[0].cells.begin(), rows[0].cells.end(), name) > 1) {
      throw CsvError(rows[0].line, fmt::format("two columns are named '{:.60}'", name));
    }
    std::vector<std::string> cells;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].cells[c].empty()) {
        throw CsvError(rows[i].line, fmt::format("column '{:.60}' is empty", name));
      }
      cells.push_back(rows[i].cells[c]);
    }
    design.factors.push_back(factor_of(name, cells));
    std::vector<double> coded;
    for (const std::string& cell : cells) {
      coded.push_back(design.factors.back().to_coded(*design.factors.back().parse(cell)));
    }
    columns.push_back(std::move(coded));
  }
  if (columns.empty()) throw CsvError(rows[0].line, "no column is a factor");
  design.coded.resize(rows.size() - 1, columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    design.coded.col(c) = Eigen::Map<const Eigen::VectorXd>(columns[c].data(), design.coded.rows());
  }
  design.region = doe::Region(design.factors, {}, {});
  design.model = doe::Model::named("quadratic", design.factors);
  return design;
}

BareDesign design_of(const Study& study, const Plan& plan) {
  return {"", study.factors, study.region, study.model, plan.coded(study.factors)};
}

BareDesign load(const fs::path& path) {
  if (fs::is_directory(path)) {
    const StudyDirectory directory = open_directory(path);
    return design_of(directory.study, directory.plan);
  }
  if (path.extension() != ".csv") {
    const Study study = load_study(path);
    return design_of(study, make_plan(study));
  }
  try {
    return design_of_table(path);
  } catch (const CsvError& error) {
    throw StudyError(fmt::format("{}:{}: {}", path.string(), error.line, error.what()));
  }
}

}  // namespace

BareDesign load_bare_design(const fs::path& path, const std::optional<std::string>& model) {
  BareDesign design = load(path);
  design.name = path.string();
  if (model) design.model = model_of(*model, design.factors);
  return design;
}

}  // namespace doetune::study
