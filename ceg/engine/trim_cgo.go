//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

// #include <malloc.h>
// static void give_back(void) {
// #ifdef __GLIBC__
// 	malloc_trim(0);
// #endif
// }
import "C"

// trim gives memory that C code has freed back to the system.
func trim() {
	for _, f := range atTrim {
		f()
	}
	C.give_back()
}
