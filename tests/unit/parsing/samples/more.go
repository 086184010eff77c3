package store

type Repo interface {
	// Find loads one row.
	Find(id int) (Row, error)
	io.Reader
	~int | ~string
	Drop(id int) error
}
type (
	Other interface { Go() }
)
type P struct {
	X, Y int // place
	Name string `json:"name"`
	io.Reader
}
const (
	A = iota
	B
)

var (
	handler = func() {}
	table   = map[string]int{}
)

var a, b = 1, 2
