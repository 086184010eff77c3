`%+%` <- function(a, b) {
        1

Stack <- R6Class("Stack", public = list(
        1
