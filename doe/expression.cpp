#include "doe/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cassert>
#include <cctype>

#include "base/nearest_name.h"

namespace doetune::doe {
namespace {

/// muParser would treat "a = 3" as an assignment; in a condition it is a typo for "==".
void refuse_assignment(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    if (i + 1 < text.size() && text[i + 1] == '=') {
      ++i;
    } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
      throw ExpressionError("'=' is not a comparison; write '=='", static_cast<int>(i) + 1);
    }
  }
}

bool is_comparison(std::string_view text) {
  return text.starts_with("<") || text.starts_with(">") || text.starts_with("==") ||
         text.starts_with("!=");
}

/// "2 <= a <= 4" would compare 0 or 1 with 4: two comparisons must be separated by && or ||, or by
/// a parenthesis.
void refuse_chained_comparison(const std::string& text) {
  bool compared = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("&&") || rest.starts_with("||") ||
        std::string_view("(),?:").find(text[i]) != std::string_view::npos) {
      compared = false;
    } else if (is_comparison(rest)) {
      if (compared) {
        throw ExpressionError("comparisons cannot be chained; write 'low <= a && a <= high'",
                              static_cast<int>(i) + 1);
      }
      compared = true;
      if (i + 1 < text.size() && text[i + 1] == '=') ++i;
    }
  }
}

/// muParser's message without its trailing position, which is counted from 0.
std::string without_position(std::string message) {
  for (const char* words : {" found at position", " at position"}) {
    message = message.substr(0, message.find(words));
  }
  if (message.ends_with('.')) message.pop_back();
  if (!message.empty()) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

}  // namespace

struct Expression::Compiled {
  mu::Parser parser;
  std::vector<std::string> names;
  std::vector<double> values;
};

Expression::Expression(const std::string& text, std::vector<std::string> variables)
    : text_(text), compiled_(std::make_unique<Compiled>()) {
  refuse_assignment(text);
  refuse_chained_comparison(text);
  compiled_->values.resize(variables.size());
  compiled_->names = std::move(variables);
  try {
    for (std::size_t i = 0; i < compiled_->names.size(); ++i) {
      compiled_->parser.DefineVar(compiled_->names[i], &compiled_->values[i]);
    }
    compiled_->parser.SetExpr(text);
    int values = 0;
    compiled_->parser.Eval(values);  // forces parsing; the values are not used
    if (values > 1) throw ExpressionError("one expression, not a list with commas", 1);
  } catch (const mu::ParserError& error) {
    const int position = error.GetPos() + 1;
    if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN) {
      throw ExpressionError(fmt::format("'{}' is not known here{}", error.GetToken(),
                                        did_you_mean_or_list(error.GetToken(), compiled_->names)),
                            position);
    }
    throw ExpressionError(without_position(error.GetMsg()), std::max(position, 1));
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

const std::vector<std::string>& Expression::variables() const { return compiled_->names; }

double Expression::value(std::span<const double> variables) const {
  assert(variables.size() == compiled_->values.size());
  std::copy(variables.begin(), variables.end(), compiled_->values.begin());
  return compiled_->parser.Eval();
}

std::vector<int> Expression::used() const {
  std::vector<int> used;
  for (std::size_t i = 0; i < compiled_->names.size(); ++i) {
    if (compiled_->parser.GetUsedVar().count(compiled_->names[i]) > 0) {
      used.push_back(static_cast<int>(i));
    }
  }
  return used;
}

}  // namespace doetune::doe
