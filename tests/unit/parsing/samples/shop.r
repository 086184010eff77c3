library(stats)

#' The sum of the lines.
total <- function(lines) {
  add <- function(x) x + 1

  sum(lines)
}

print(total(1))
