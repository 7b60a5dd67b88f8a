//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

// long largeBlocks(void);
// long keptBytes(void);
// void giveBack(void);
import "C"

// trim gives memory that C code has freed back to the system, with the blocks that
// memory_cgo.c keeps.
func trim() { C.giveBack() }

// largeBlocks counts the blocks that memory_cgo.c was asked for.
func largeBlocks() int { return int(C.largeBlocks()) }

// keptBytes are in blocks that nothing uses.
func keptBytes() int { return int(C.keptBytes()) }
