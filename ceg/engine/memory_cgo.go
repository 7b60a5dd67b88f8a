//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

// long ledg_large_requests(void);
// long ledg_kept_bytes(void);
// void ledg_give_back(void);
import "C"

// trim gives memory that C code has freed back to the system, with the blocks that
// memory_cgo.c keeps.
func trim() { C.ledg_give_back() }

// largeRequests returns how many blocks memory_cgo.c has been asked for.
func largeRequests() int { return int(C.ledg_large_requests()) }

// keptBytes returns the bytes in blocks that nothing uses.
func keptBytes() int { return int(C.ledg_kept_bytes()) }
