package forms

const One, Two = 1, 2

const (
	Red, Blue = iota, iota + 1
	Green, Black
)

type Server[T any] struct {
	*Base
	http.Handler
	List[T]
	X, Y int
}
