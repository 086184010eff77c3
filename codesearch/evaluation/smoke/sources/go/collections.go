package collections

import (
	"cmp"
	"math/rand"
	"sort"
	"time"
)

// Stack is a last in, first out list of numbers.
type Stack struct {
	items []int
}

// Push puts a number on top of the stack.
func (s *Stack) Push(n int) {
	if cap(s.items) == 0 {
		s.items = make([]int, 0, 8)
	}
	s.items = append(s.items, n)
}

// Pop takes the number off the top of the stack.
func (s *Stack) Pop() (int, bool) {
	if len(s.items) == 0 {
		return 0, false
	}
	last := len(s.items) - 1
	n := s.items[last]
	s.items = s.items[:last]
	return n, true
}

// Peek looks at the top of the stack and leaves it there.
func (s *Stack) Peek() (int, bool) {
	if n := len(s.items); n > 0 {
		return s.items[n-1], true
	}
	return 0, false
}

// QuickSort sorts a slice in place.
func QuickSort[T cmp.Ordered](xs []T) {
	if len(xs) < 2 {
		return
	}
	pivot, left := xs[len(xs)/2], 0
	xs[len(xs)/2], xs[len(xs)-1] = xs[len(xs)-1], xs[len(xs)/2]
	for i := range xs[:len(xs)-1] {
		if xs[i] < pivot {
			xs[i], xs[left] = xs[left], xs[i]
			left++
		}
	}
	xs[left], xs[len(xs)-1] = xs[len(xs)-1], xs[left]
	QuickSort(xs[:left])
	QuickSort(xs[left+1:])
}

// BinarySearch finds a value in sorted data; -1 when it is not there.
func BinarySearch(sorted []int, want int) int {
	low, high := 0, len(sorted)-1
	for low <= high {
		mid := low + (high-low)/2
		switch {
		case sorted[mid] == want:
			return mid
		case sorted[mid] < want:
			low = mid + 1
		default:
			high = mid - 1
		}
	}
	return -1
}

// Keys lists the keys of a map in ascending order.
func Keys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// Contains tells whether a slice holds a value.
func Contains[T comparable](xs []T, want T) bool {
	for _, x := range xs {
		if x == want {
			return true
		}
	}
	return false
}

func dedup(xs []string) []string {
	seen := make(map[string]struct{}, len(xs))
	out := xs[:0]
	for _, x := range xs {
		if _, dup := seen[x]; !dup {
			seen[x] = struct{}{}
			out = append(out, x)
		}
	}
	return out
}

// Intersect returns the elements that two slices share.
func Intersect(a, b []int) []int {
	inA := make(map[int]bool)
	for _, x := range a {
		inA[x] = true
	}
	var shared []int
	for _, x := range b {
		if inA[x] {
			shared = append(shared, x)
			delete(inA, x)
		}
	}
	return shared
}

// Shuffle brings a deck into random order (Fisher and Yates).
func Shuffle(deck []string) {
	source := rand.New(rand.NewSource(time.Now().UnixNano()))
	for i := len(deck) - 1; i > 0; i-- {
		j := source.Intn(i + 1)
		deck[i], deck[j] = deck[j], deck[i]
	}
}

// GCD is the greatest common divisor, by Euclid.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Fibonacci returns the nth number of the series 0, 1, 1, 2, 3, 5.
func Fibonacci(n int) uint64 {
	a, b := uint64(0), uint64(1)
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}
