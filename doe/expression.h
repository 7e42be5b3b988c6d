// Arithmetic expressions over named variables, for constraints and derived responses.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace doetune::doe {

/// Thrown for text that is not a valid expression: the error, and its character position (from 1).
struct ExpressionError : std::runtime_error {
  ExpressionError(const std::string& message, int at) : std::runtime_error(message), position(at) {}
  int position;
};

/// A compiled expression such as "batch_size * executors_per_gpu <= 32" (muParser's grammar; a
/// comparison yields 1 or 0). The constructor throws ExpressionError for a syntax error or an
/// unknown name, suggesting the nearest valid one.
class Expression {
 public:
  Expression(const std::string& text, std::vector<std::string> variables);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  const std::string& text() const { return text_; }
  const std::vector<std::string>& variables() const;

  /// The value for variables in the order given at construction; may be NaN or infinite. Not
  /// thread-safe: use one expression per thread.
  double value(std::span<const double> variables) const;

  /// Indices of the variables that the expression uses.
  std::vector<int> used() const;

 private:
  struct Compiled;
  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace doetune::doe
