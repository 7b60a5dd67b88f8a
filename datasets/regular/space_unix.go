//go:build linux || darwin

package regular

import "golang.org/x/sys/unix"

// FreeSpace returns the bytes that a user can still write to the file system of a folder; ok is
// false if they are not known.
func FreeSpace(dir string) (bytes int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(uint64(s.Bavail) * uint64(s.Bsize)), true
}
