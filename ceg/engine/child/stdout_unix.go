//go:build linux || darwin

package child

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// answers returns what was standard output, for the answers alone: what C libraries write there goes
// to standard error from now on.
func answers() *os.File {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup2(2, 1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "standard output:", err)
		os.Exit(1)
	}
	return os.NewFile(uintptr(fd), "answers")
}
