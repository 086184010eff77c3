`label<-` <- function(x, value) {
  x
}
"size<-" = function(x, value) {
  x
}
setMethod("area", "Square", function(shape) {
  shape@side^2
})
setClass("Square", representation(side = "numeric"))
