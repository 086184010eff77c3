package concurrent

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed says that a pool or mailbox takes nothing any more.
var ErrClosed = errors.New("closed")

// ParallelMap calls f for every element on several goroutines and keeps the order of the results.
func ParallelMap[T, R any](in []T, workers int, f func(T) R) []R {
	out := make([]R, len(in))
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, value := range in {
		wg.Add(1)
		slots <- struct{}{}
		go func(i int, value T) {
			defer wg.Done()
			out[i] = f(value)
			<-slots
		}(i, value)
	}
	wg.Wait()
	return out
}

// FanIn merges several channels into one, which closes after the last of them.
func FanIn[T any](sources ...<-chan T) <-chan T {
	merged := make(chan T)
	var open sync.WaitGroup
	open.Add(len(sources))
	for _, source := range sources {
		go func(c <-chan T) {
			defer open.Done()
			for value := range c {
				merged <- value
			}
		}(source)
	}
	go func() { open.Wait(); close(merged) }()
	return merged
}

// Retry runs an operation until it succeeds, the attempts are used up or the context ends.
func Retry(ctx context.Context, attempts int, wait time.Duration, op func() error) error {
	var err error
	for i := 0; i < attempts; i++ {
		if err = op(); err == nil {
			return nil
		}
		select {
		case <-time.After(wait << i):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// Semaphore admits a fixed number of holders at once.
type Semaphore struct {
	slots chan struct{}
}

// Acquire takes a slot, waiting for a free one as long as the context allows.
func (s *Semaphore) Acquire(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release gives a slot back; more releases than acquires are a bug.
func (s *Semaphore) Release() {
	select {
	case <-s.slots:
	default:
		panic("semaphore: release without acquire")
	}
}

// Mailbox passes messages between goroutines.
type Mailbox struct {
	mu     sync.Mutex
	queue  []string
	arrive *sync.Cond
	closed bool
}

// Send leaves a message in the mailbox.
func (m *Mailbox) Send(msg string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.queue = append(m.queue, msg)
	m.arrive.Signal()
	return nil
}

// Receive waits for the oldest message and takes it out.
func (m *Mailbox) Receive() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) == 0 && !m.closed {
		m.arrive.Wait()
	}
	if len(m.queue) == 0 {
		return "", ErrClosed
	}
	msg := m.queue[0]
	m.queue = m.queue[1:]
	return msg, nil
}

// Debounce returns a function that runs f only after calls have ceased for a while.
func Debounce(quiet time.Duration, f func()) func() {
	var mu sync.Mutex
	var timer *time.Timer
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
		timer = time.AfterFunc(quiet, f)
	}
}

// Cache is a map whose entries expire.
type Cache struct {
	mu      sync.RWMutex
	entries map[string]cacheEntry
	ttl     time.Duration
}

type cacheEntry struct {
	value   any
	expires time.Time
}

func (c *Cache) Set(key string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = make(map[string]cacheEntry)
	}
	c.entries[key] = cacheEntry{value, time.Now().Add(c.ttl)}
}

func (c *Cache) Get(key string) (any, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	entry, ok := c.entries[key]
	if !ok || time.Now().After(entry.expires) {
		return nil, false
	}
	return entry.value, true
}

// Purge drops all entries whose time is over.
func (c *Cache) Purge() (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for key, entry := range c.entries {
		if now.After(entry.expires) {
			delete(c.entries, key)
			dropped++
		}
	}
	return dropped
}
