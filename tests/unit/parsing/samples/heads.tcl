namespace eval shop {
        1

proc ::total {x} {
        1

oo::class create Dog {
        1
