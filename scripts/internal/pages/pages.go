//go:build cgo && !noxla && linux && (amd64 || arm64)

package pages

// int ledg_on(void);
// long ledg_large_requests(void);
// long ledg_reserved_bytes(void);
// void ledg_give_back(void);
import "C"

import "github.com/ledg-go/ledg/ceg/engine"

func init() { engine.AtTrim(func() { C.ledg_give_back() }) }

// isOn reports whether large blocks come from here.
func isOn() bool { return C.ledg_on() != 0 }

// largeRequests returns the number of requested blocks.
func largeRequests() int { return int(C.ledg_large_requests()) }

// reservedBytes returns the bytes in blocks that nothing uses.
func reservedBytes() int { return int(C.ledg_reserved_bytes()) }
