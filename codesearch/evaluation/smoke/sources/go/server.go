package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Server answers HTTP requests until it is told to stop.
type Server struct {
	http  *http.Server
	ready chan struct{}
}

// Start begins to listen; it returns once the port is open.
func (s *Server) Start(addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	go s.http.Serve(listener)
	close(s.ready)
	return nil
}

// Stop waits for open requests to finish, then shuts the server down.
func (s *Server) Stop(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return s.http.Close()
	}
	return nil
}

// LogRequests is middleware that prints method, path and time taken.
func LogRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		next.ServeHTTP(w, r)
		log.Printf("%s %s %s", r.Method, r.URL.Path, time.Since(began))
	})
}

// Recover is middleware that answers 500 when a handler panics.
func Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if problem := recover(); problem != nil {
				log.Println("panic:", problem)
				http.Error(w, "internal error", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Println("response:", err)
	}
}

func decodeBody(r *http.Request, into any) error {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return fmt.Errorf("expected json, got %q", kind)
	}
	limited := http.MaxBytesReader(nil, r.Body, 1<<20)
	return json.NewDecoder(limited).Decode(into)
}

// ReceiveUpload stores the file of a multipart form below dir.
func ReceiveUpload(r *http.Request, dir string) (string, error) {
	part, header, err := r.FormFile("file")
	if err != nil {
		return "", err
	}
	defer part.Close()
	path := filepath.Join(dir, filepath.Base(header.Filename))
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	_, err = out.ReadFrom(part)
	return path, err
}

// PostFile sends a local file to a server as a multipart form.
func PostFile(url, path string) (*http.Response, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", filepath.Base(path))
	part.Write(content)
	form.Close()
	return http.Post(url, form.FormDataContentType(), &body)
}

// ClientIP finds the address of the caller, also behind a proxy.
func ClientIP(r *http.Request) string {
	if forwarded := r.Header.Get("X-Forwarded-For"); forwarded != "" {
		first, _, _ := strings.Cut(forwarded, ",")
		return strings.TrimSpace(first)
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// PageOf reads page and size from the query string, with bounds.
func PageOf(r *http.Request, maxSize int) (offset, limit int) {
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	limit, err = strconv.Atoi(r.URL.Query().Get("size"))
	if err != nil || limit < 1 || limit > maxSize {
		limit = maxSize
	}
	return (page - 1) * limit, limit
}

// WaitForInterrupt blocks until Ctrl-C is pressed or the context ends.
func WaitForInterrupt(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	select {
	case <-signals:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
