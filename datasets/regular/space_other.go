//go:build !linux && !darwin

package regular

// FreeSpace returns the bytes that a user can still write to the file system of a folder; ok is
// false if they are not known.
func FreeSpace(dir string) (bytes int64, ok bool) { return 0, false }
