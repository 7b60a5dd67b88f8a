//go:build cgo && !noxla && ((linux && (amd64 || arm64)) || (darwin && arm64))

package engine

// #ifdef __linux__
// #include <malloc.h>
// #endif
// static void give_back(void) {
// #ifdef __GLIBC__
// 	malloc_trim(0);
// #endif
// }
import "C"

// trim gives memory that C code has freed back to the system.
func trim() { C.give_back() }
