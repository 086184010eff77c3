package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCompressThenDecompress(t *testing.T) {
	want := bytes.Repeat([]byte("again and "), 100)
	packed, err := Compress(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decompress(packed)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestReadLinesOfMissingFile(t *testing.T) {
	lines, err := ReadLines(filepath.Join(t.TempDir(), "absent"))
	if !os.IsNotExist(err) {
		t.Errorf("got %v, %v", lines, err)
	}
}

// tempFile writes text to a file that the test removes at its end.
func tempFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
