// Package clothes embeds photographs of clothes: 3,023 photos of fifteen classes, taken by 288 people
// at home. Sites are the fourteen people with most photos, and all others as one. Classes and sites
// have the shares that people sent. The longest side is 96 pixels. scripts/lab/clothes makes the archive
// from a public repository, and SOURCES.md there has the rules.
package clothes

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/ledg-go/ledg/datasets/packed"
)

// Size is the longest side of every photo in pixels.
const Size = 96

// Others is the site of people with few photos; every other site is one person.
const Others = "many"

//go:embed photos.zip.zst
var archive []byte

// Licences has whose photos these are and their licence.
//
//go:embed LICENCES
var Licences string

// Open returns the archive, with files site/class/person_id.webp.
var Open = sync.OnceValues(func() (*zip.Reader, error) {
	z, err := packed.Zip(archive)
	if err != nil {
		return nil, fmt.Errorf("clothes: %w", err)
	}
	return z, nil
})

// Classes returns the class names, in index order.
func Classes() []string {
	return strings.Fields("blazer body dress hat hoodie longsleeve outwear pants polo shirt shoes shorts skirt t-shirt undershirt")
}

// Domains returns the names of the sites, in index order.
func Domains() (sites []string) {
	for i := range 14 {
		sites = append(sites, fmt.Sprintf("home%02d", i+1))
	}
	return append(sites, Others)
}
