// Package pages gives XLA its large blocks of memory, for the command that links it: it
// takes the place of free and of others of the C library's functions in the whole process,
// which is why no package that others import does. LEDG_LARGE_PAGES=off switches it off,
// and it stands aside by itself where another allocator, or a checker, is preloaded.
package pages
