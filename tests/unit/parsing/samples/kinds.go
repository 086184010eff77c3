package shop
import (
	"fmt"
)
// Codes.
const (
	A = iota
	B
)
const C = 1
var Handle = func() {
	open()
}
var table = map[string]int{
	"a": 1,
}
type ID int
type (
	Alias = ID
	Handler func(int)
	// Point is a point.
	Point struct {
		x int
	}
)
