package regular

import (
	"os"

	"github.com/gofrs/flock"
)

// NewLock returns a lock on the file at path, which is created on the first lock. Symbolic links
// are not followed and pipes not waited for, since other users may write to the folder.
func NewLock(path string, o ...flock.Option) *flock.Flock {
	return flock.New(path, append([]flock.Option{flock.SetFlag(os.O_CREATE | os.O_RDONLY | noFollow)}, o...)...)
}
