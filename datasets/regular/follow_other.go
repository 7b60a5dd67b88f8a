//go:build !unix

package regular

import "io/fs"

// noFollow is for systems on which users make no links in each other's folders.
const noFollow = 0

// owners knows of no owners.
func owners(fs.FileInfo) (owner, self int, ok bool) { return 0, 0, false }
