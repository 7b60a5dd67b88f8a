//go:build cgo && !noxla && linux && (amd64 || arm64)

// XLA takes the memory of a step, hundreds of megabytes, anew for every step and frees
// it at the end, and the C library gives blocks of that size back to the system every
// time. Their pages are cleared again at their first use: a tenth to a fifth of a step
// with pages of 4 KB, and still a twelfth with those of 2 MB. So large blocks from
// posix_memalign, which is what XLA calls, come from here: in pages of 2 MB, and kept
// for the next request of their size. The functions below take the C library's place
// for every library of the process, and pass on what is not theirs.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 2 << 20, large = 4 << 20, most = 1024 };

// on is set before main where large blocks come from here, keep is how many bytes are kept
// that nothing uses: a quarter of the machine's memory.
static int on;
static size_t keep;

// blocks are those in use and those that are kept, to be read with lock held. All kept
// ones are given back before a new block is made, that is, when a size is asked for that
// none of them has: large blocks never take more than without keeping, rounding to pages
// apart. Beside other memory they stay until ledg_give_back.
static struct { char* at; size_t size; int used; } blocks[most];
static int count;
static long asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ledg_give_back(void);

// release gives the kept blocks back to the system. lock is held.
static void release(void) {
	int n = 0;
	for (int i = 0; i < count; i++) {
		if (blocks[i].used) blocks[n++] = blocks[i];
		else munmap(blocks[i].at, blocks[i].size);
	}
	count = n;
}

// kept is the size of the kept blocks. lock is held.
static size_t kept(void) {
	size_t n = 0;
	for (int i = 0; i < count; i++) {
		if (!blocks[i].used) n += blocks[i].size;
	}
	return n;
}

// map returns a new block, whose size is a multiple of a page, or NULL. lock is held.
static char* map(size_t size) {
	if (count == most) return NULL;
	char* p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) return NULL;
	size_t before = -(uintptr_t)p & (page - 1);
	if (before) munmap(p, before);
	munmap(p + before + size, page - before);
	p += before;
	madvise(p, size, MADV_HUGEPAGE); // advice: no harm where it is not taken
	blocks[count].at = p;
	blocks[count].size = size;
	blocks[count++].used = 1;
	return p;
}

// take returns a block of at least size bytes, or NULL where the system has none or too
// many are in use.
static char* take(size_t size) {
	if (size > PTRDIFF_MAX - 2 * (size_t)page) return NULL;
	size = (size + page - 1) & ~((size_t)page - 1);
	char* p = NULL;
	pthread_mutex_lock(&lock);
	asked++;
	for (int i = 0; i < count && !p; i++) {
		if (!blocks[i].used && blocks[i].size == size) {
			blocks[i].used = 1;
			p = blocks[i].at;
		}
	}
	if (!p) {
		release();
		p = map(size);
	}
	pthread_mutex_unlock(&lock);
	return p;
}

// sizeOf is the size of a block in use, 0 of any other memory; if drop, it is kept from
// now on.
static size_t sizeOf(void* p, int drop) {
	if (!on || !p || (uintptr_t)p & (page - 1)) return 0;
	size_t size = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < count && !size; i++) {
		if (blocks[i].used && blocks[i].at == p) {
			size = blocks[i].size;
			if (drop) blocks[i].used = 0;
		}
	}
	if (size && drop && kept() > keep) release();
	pthread_mutex_unlock(&lock);
	return size;
}

// The functions that would be called without this file: the C library's, or those of an
// allocator that somebody preloads.
static void (*next_free)(void*);
static void* (*next_realloc)(void*, size_t);
static int (*next_memalign)(void**, size_t, size_t);
static size_t (*next_usable)(void*);

// next looks up the next function of a name, in the version that programs are linked to.
static void* next(const char* name) {
	void* f = NULL;
#ifdef __GLIBC__
#ifdef __x86_64__
	f = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
#else
	f = dlvsym(RTLD_NEXT, name, "GLIBC_2.17");
#endif
#endif
	return f ? f : dlsym(RTLD_NEXT, name);
}

// find looks all up, which may free something itself.
static void find(void) {
	static __thread int looking;
	if (looking || next_usable) return;
	looking = 1;
	int before = errno;
	next_free = next("free");
	next_realloc = next("realloc");
	next_memalign = next("posix_memalign");
	next_usable = next("malloc_usable_size");
	errno = before;
	looking = 0;
}

// alone reports whether all memory is the C library's, without its checks: an allocator or
// a checker that is preloaded has to see every block itself.
static int alone(void) {
	const char* tunables = getenv("GLIBC_TUNABLES");
	const char* check = getenv("MALLOC_CHECK_");
	if ((check && *check) || (tunables && strstr(tunables, "glibc.malloc.check"))) return 0;
	Dl_info libc, other;
	const char* names[] = {"malloc", "calloc", "free", "realloc", "memalign", "posix_memalign", "malloc_usable_size"};
	if (!dladdr(dlsym(RTLD_NEXT, "getenv"), &libc)) return 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!dladdr(next(names[i]), &other) || other.dli_fbase != libc.dli_fbase) return 0;
	}
	return 1;
}

static void acquire(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }

// prepare runs before main; what is asked for before that is passed on.
__attribute__((constructor)) static void prepare(void) {
	find();
	const char* wish = getenv("LEDG_LARGE_PAGES");
	if ((wish && !strcmp(wish, "off")) || !next_free || !next_realloc || !next_usable || !alone()) return;
	keep = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4;
	pthread_atfork(acquire, leave, leave); // a child may go on with what its parent has
	on = 1;
}

int posix_memalign(void** block, size_t alignment, size_t size) {
	if (alignment < sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
	if (on && size >= large && alignment <= page) {
		void* p = take(size);
		if (p) {
			*block = p;
			return 0;
		}
	}
	if (!next_memalign) find();
	if (!next_memalign) return ENOMEM;
	int failed = next_memalign(block, alignment, size);
	if (failed && on) {
		ledg_give_back();
		failed = next_memalign(block, alignment, size);
	}
	return failed;
}

void free(void* p) {
	if (!p || sizeOf(p, 1)) return;
	if (!next_free) find();
	if (next_free) next_free(p);
}

void* realloc(void* p, size_t size) {
	size_t had = sizeOf(p, 0);
	if (!had) {
		if (!next_realloc) find();
		if (next_realloc) return next_realloc(p, size);
		errno = ENOMEM;
		return NULL;
	}
	void* to = size ? malloc(size) : NULL;
	if (to) memcpy(to, p, size < had ? size : had);
	if (to || !size) free(p);
	return to;
}

size_t malloc_usable_size(void* p) {
	size_t size = sizeOf(p, 0);
	if (size) return size;
	if (!next_usable) find();
	return next_usable ? next_usable(p) : 0;
}

int ledg_on(void) { return on; }

long ledg_large_requests(void) {
	pthread_mutex_lock(&lock);
	long n = asked;
	pthread_mutex_unlock(&lock);
	return n;
}

long ledg_reserved_bytes(void) {
	pthread_mutex_lock(&lock);
	long n = kept();
	pthread_mutex_unlock(&lock);
	return n;
}

void ledg_give_back(void) {
	pthread_mutex_lock(&lock);
	release();
	pthread_mutex_unlock(&lock);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
