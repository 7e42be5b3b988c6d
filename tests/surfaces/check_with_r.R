# Fits the data sets that print_fits prints with lm, anova and predict, and compares to 10 digits;
# those of laws with nls, to 6: its derivatives are differences.
# Blocks are numeric contrasts here (the first block -1), so that 0 is the average block.
#   Rscript check_with_r.R path/to/print_fits
program <- commandArgs(trailingOnly = TRUE)[1]
source(textConnection(system2(program, stdout = TRUE)))

failures <- 0
compare <- function(what, ours, theirs, tolerance = 1e-10) {
  ours <- unname(ours)
  theirs <- unname(theirs)
  if (length(ours) != length(theirs)) stop(what, ": ", length(ours), " and ", length(theirs))
  worst <- max(abs(ours - theirs) / pmax(abs(theirs), 1e-3))
  if (worst <= tolerance) return(invisible())
  failures <<- failures + 1
  cat(what, "differs by", worst, "\n")
}

part_of <- function(term) {
  if (term == "B") return(1)
  if (term == "Residuals") return(5)
  if (grepl("^I\\(", term)) return(4)
  if (grepl(":", term)) 3 else 2
}

for (case in seq_along(cases)) {
  given <- cases[[case]]
  data <- data.frame(a = given$a, b = given$b, y = given$y, weights = given$weights,
                     w = factor(given$w, levels = 0:2))
  at <- data.frame(a = 0.3, b = -0.7, w = factor(1, levels = 0:2))
  contrasts(data$w) <- contr.sum(3)
  text <- given$formula
  if (!is.null(given$blocks)) {
    data$B <- sapply(1:2, function(j) (given$blocks == j) - (given$blocks == 0))
    at$B <- matrix(0, 1, 2)
    text <- sub("^1", "1 + B", text)
  }
  fit <- lm(terms(as.formula(paste("y ~", text)), keep.order = TRUE), data, weights = weights)
  report <- summary(fit)
  rows <- report$coefficients[!grepl("^B", rownames(report$coefficients)), ]
  # The order of the model: by part, in which interactions come before squares as here.
  compare(paste(case, "estimates"), given$estimates, rows[, 1])
  compare(paste(case, "standard errors"), given$errors, rows[, 2])
  compare(paste(case, "t"), given$t, rows[, 3])
  compare(paste(case, "p"), given$p, rows[, 4])
  table <- anova(fit)
  sums <- tapply(table[["Sum Sq"]], sapply(rownames(table), part_of), sum)
  compare(paste(case, "sums of squares"), given$sums, sums)
  compare(paste(case, "leverage"), given$leverage, hatvalues(fit))
  compare(paste(case, "studentised residuals"), given$studentised, rstandard(fit))
  confidence <- predict(fit, at, interval = "confidence")
  prediction <- suppressWarnings(predict(fit, at, interval = "prediction", weights = 1))
  compare(paste(case, "predictions"), given$predicted, c(confidence, prediction[2:3]))
  compare(paste(case, "sigma"), given$whole[1], report$sigma)
  if (is.null(given$blocks)) {
    compare(paste(case, "R2"), given$whole[2:3], c(report$r.squared, report$adj.r.squared))
  }
}
scales <- list(none = identity, log = log, sqrt = sqrt, inverse = function(y) 1 / y)
for (given in laws) {
  scale <- scales[[given$transform]]
  data <- data.frame(x = given$x, y = given$y, level = given$level + 1)
  start <- list(m = 1.2 * given$m, h = 0.8 * given$h)
  fit <- nls(scale(y) ~ scale(m[level] * x / (h[level] + x)), data, start,
             control = nls.control(tol = 1e-8, nDcentral = TRUE, scaleOffset = 1e-9))
  table <- summary(fit)$coefficients
  compare(paste(given$transform, "estimates"), c(given$m, given$h), table[, 1], 1e-6)
  compare(paste(given$transform, "errors"), c(given$m_errors, given$h_errors), table[, 2], 1e-6)
  compare(paste(given$transform, "sigma"), given$sigma, summary(fit)$sigma, 1e-6)
}
cat(length(cases) + length(laws), "data sets,", failures, "differences\n")
quit(status = if (failures > 0) 1 else 0)
