//go:build unix

package regular

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow are the flags of os.OpenFile by which a link is an error and a pipe does not
// wait for its writer.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// owners returns the user that a file belongs to, and the one of this process.
func owners(info fs.FileInfo) (owner, self int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), os.Geteuid(), true
}
