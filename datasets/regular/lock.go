package regular

import (
	"os"

	"github.com/gofrs/flock"
)

// NewLock returns a lock by the file at path, which is made when it is locked first. A
// link is not followed, and a pipe is not waited for: the folder may be somebody else's,
// too, who could make a file elsewhere by this process.
func NewLock(path string, o ...flock.Option) *flock.Flock {
	return flock.New(path, append([]flock.Option{flock.SetFlag(os.O_CREATE | os.O_RDONLY | noFollow)}, o...)...)
}
