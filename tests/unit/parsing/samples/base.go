package store

// Store keeps things.
type Store[T any] struct {
	items []T
}

type (
	// Reader reads.
	Reader interface {
		Read(key string) string
	}
	ID int
)

// Put adds one thing.
//
//go:noinline
func (s *Store[T]) Put(item T,
	key string) error {
	return nil
}

func New() *Store[int] { return nil }
