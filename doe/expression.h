// Arithmetic over named numbers: constraints, derived responses.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace doetune::doe {

/// Thrown for text that is no expression: what is wrong, and at which character (from 1).
struct ExpressionError : std::runtime_error {
  ExpressionError(const std::string& message, int at) : std::runtime_error(message), position(at) {}
  int position;
};

/// A compiled expression such as "batch_size * executors_per_gpu <= 32" (muParser's grammar; a
/// comparison is 1 or 0). Throws ExpressionError at construction for a syntax error or an unknown
/// name, with the nearest valid one.
class Expression {
 public:
  Expression(const std::string& text, std::vector<std::string> variables);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  const std::string& text() const { return text_; }
  const std::vector<std::string>& variables() const;

  /// The value with variables set in the order given at construction; may be NaN or infinite.
  /// One expression serves one thread at a time.
  double value(std::span<const double> variables) const;

  /// Which of the variables the expression uses, by index.
  std::vector<int> used() const;

 private:
  struct Compiled;
  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace doetune::doe
