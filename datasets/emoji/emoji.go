// Package emoji embeds a multi-domain data set of emoji: 784 emoji of sixteen classes, each by
// four artists' sets, which are the domains. Images are 64 x 64 pixels on white. Each domain is
// a zip archive with its licence beside it, made by scripts/lab/emoji from pinned npm packages.
//
// The archives are embedded and not downloaded, so that the demo, the notebooks and the tables
// are the same on a machine without a network; they take 5.4 MB. OpenMoji's black line drawings
// are left out: they repeat the outlines of its coloured ones, so a source would show the target.
package emoji

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"github.com/ledg-go/ledg/datasets/packed"
)

// Size is the side of every image in pixels.
const Size = 64

//go:embed *.zip.zst
var archives embed.FS

// Licences has whose images these are and their licences.
//
//go:embed LICENCES
var Licences string

// Open returns all images as files domain/class/codepoints.webp, the paths of List.
var Open = sync.OnceValues(func() (fs.FS, error) {
	all := domains{}
	for _, domain := range Domains() {
		data, err := archives.ReadFile(domain + ".zip.zst")
		if err != nil {
			return nil, err
		}
		if all[domain], err = packed.Zip(data); err != nil {
			return nil, fmt.Errorf("emoji: archive %s: %w", domain, err)
		}
	}
	return all, nil
})

// List returns the paths of all images.
func List() ([]string, error) {
	files, err := Open()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, domain := range Domains() {
		for _, f := range files.(domains)[domain].File {
			list = append(list, domain+"/"+f.Name)
		}
	}
	return list, nil
}

// first has the SHA-256 of the files as they were at first, in the order of List: those now have the
// same pixels in fewer bytes.
//
//go:embed first.sha256
var first string

// Digests returns the digests by which records know the images, by path.
var Digests = sync.OnceValues(func() (map[string][sha256.Size]byte, error) {
	list, err := List()
	if err != nil || len(first) != sha256.Size*len(list) {
		return nil, cmp.Or(err, fmt.Errorf("emoji: %d bytes of digests for %d images", len(first), len(list)))
	}
	sums := map[string][sha256.Size]byte{}
	for i, path := range list {
		sums[path] = [sha256.Size]byte([]byte(first[i*sha256.Size:][:sha256.Size]))
	}
	return sums, nil
})

// domains are the archives by domain.
type domains map[string]*zip.Reader

// Open opens domain/class/codepoints.webp.
func (d domains) Open(name string) (fs.File, error) {
	for domain, z := range d {
		if n := len(domain); len(name) > n && name[:n] == domain && name[n] == '/' {
			return z.Open(name[n+1:])
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
