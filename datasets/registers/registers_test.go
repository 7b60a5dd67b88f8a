package registers

import (
	"crypto/sha256"
	"testing"
)

// The hash is SHA-256, also of content that is written in parts.
func TestSHA256(t *testing.T) {
	h := SHA256()
	h.Write([]byte("one "))
	h.Write([]byte("two"))
	if want := sha256.Sum256([]byte("one two")); [sha256.Size]byte(h.Sum(nil)) != want {
		t.Errorf("%x, want %x", h.Sum(nil), want)
	}
}
