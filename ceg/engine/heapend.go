//go:build goexperiment.simd && linux && !race

package engine

import (
	"log"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"syscall"
)

// maxAhead is the most address space that mapAhead reserves. The runtime's tables use a
// thousandth of it permanently.
const maxAhead = 16 << 30

// arenaBytes is the size of the runtime's arenas on 64 bits.
const arenaBytes = 64 << 20

// mapAhead keeps tensors of the Go backend away from the end of the heap.
//
// The partial loads of Go's package simd (LoadFloat32sPart and the like, in 1.27.3 and 1.27.4)
// read a whole vector and mask it afterwards, up to 60 bytes beyond their slice
// (https://github.com/golang/go/issues/80856 has the same loads under checkptr). The backend's
// kernels use them for the rest of a row, such as the logits of 7 classes, in sums, products,
// reductions and activations. This is harmless unless the slice ends where mapped memory does:
// then it is a segmentation fault, which no program can catch. Initially one in twenty large
// buffers is there, since the heap grows by the requested size.
//
// The runtime hands out its lowest free pages first. So a heap that was once mapped further than
// it will be filled never reaches its end. It is mapped in blocks of an arena. The runtime
// clears a whole allocation if any of its pages was used before, so only the few blocks among
// old pages are touched, and the others take no memory. The garbage collector's settings are
// unchanged: the blocks contain no pointers.
//
// It returns "" or one sentence that states that nothing is protected. A heap that outgrows the
// mapped size is reported when it does.
var mapAhead = sync.OnceValue(func() (notice string) {
	size := addressSpace()
	if size == 0 {
		return "the address space of this process is limited (ulimit -v), so a fault of Go's vector loads can end it where its heap ends: lift the limit, or build without GOEXPERIMENT=simd"
	}
	for range size / arenaBytes {
		ahead = append(ahead, make([]byte, arenaBytes))
	}
	ahead = nil
	debug.FreeOSMemory()
	watchHeap(uint64(size))
	return ""
})

// watchHeap looks at the heap after each collection, until it has more than size bytes.
func watchHeap(size uint64) {
	runtime.AddCleanup(new([64]byte), func(size uint64) {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		if metrics.Read(sample); sample[0].Value.Uint64() <= size {
			watchHeap(size)
			return
		}
		log.Printf("ledg: the heap has more than %d GB: a fault of Go's vector loads can end this process where its heap ends; build without GOEXPERIMENT=simd, or take XLA, where that matters", size>>30)
	}, size)
}

var ahead [][]byte // global, so that the compiler cannot leave it out

// addressSpace returns how much may be mapped: no more than the machine's memory, and
// nothing where address space itself is limited.
func addressSpace() int {
	var info syscall.Sysinfo_t
	var limit syscall.Rlimit
	if syscall.Sysinfo(&info) != nil || syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur != math.MaxUint64 {
		return 0
	}
	memory := uint64(info.Totalram) * uint64(info.Unit)
	var data syscall.Rlimit // as package child sets it: a part is for memory outside of the heap
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &data) == nil && data.Cur != math.MaxUint64 {
		memory = min(memory, data.Cur/4*3)
	}
	for size := int(min(memory, maxAhead, math.MaxInt/2)); size >= 1<<28; size /= 2 {
		// The runtime would end the program where the kernel refuses.
		m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err == nil && syscall.Munmap(m) == nil {
			return size
		}
	}
	return 0
}
