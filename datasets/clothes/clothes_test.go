package clothes

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/zst"
)

// The archive is the one that scripts/lab/clothes makes.
func TestArchive(t *testing.T) {
	const want = "6f74703ae5575a8333b9c241993af0c6d4a259ac28a9a78ac830c122e3fa428d"
	if got := fmt.Sprintf("%x", sha256.Sum256(zst.Decode(t, archive))); got != want {
		t.Errorf("SHA-256 %s, want %s: run scripts/lab/clothes", got, want)
	}
}

// Classes and sites have the numbers of photos that SOURCES.md says, and a person is at one site.
func TestCounts(t *testing.T) {
	classes := map[string]int{"t-shirt": 609, "longsleeve": 424, "pants": 418, "shoes": 256, "shirt": 238, "dress": 212, "shorts": 194,
		"outwear": 189, "hat": 105, "skirt": 90, "polo": 71, "undershirt": 64, "hoodie": 58, "blazer": 56, "body": 39}
	sites := map[string]int{"home01": 370, "home02": 278, "home03": 194, "home04": 168, "home05": 108, "home06": 93, "home07": 89,
		"home08": 68, "home09": 68, "home10": 68, "home11": 60, "home12": 57, "home13": 53, "home14": 47, Others: 1302}
	perClass, perSite, home, people := map[string]int{}, map[string]int{}, map[string]string{}, map[string]int{}
	for _, f := range fatal.Get(Open())(t).File {
		class := path.Dir(f.Name)
		site := path.Dir(class)
		person, _, _ := strings.Cut(path.Base(f.Name), "_")
		perClass[path.Base(class)]++
		perSite[site]++
		switch other, seen := home[person]; {
		case !seen:
			home[person] = site
			people[site]++
		case other != site:
			t.Errorf("person %s is at %s and %s", person, other, site)
		}
	}
	if !maps.Equal(perClass, classes) || !maps.Equal(perSite, sites) {
		t.Errorf("photos %v and %v, want %v and %v", perClass, perSite, classes, sites)
	}
	for _, site := range Domains() {
		if want := map[bool]int{false: 1, true: 274}[site == Others]; people[site] != want {
			t.Errorf("%s has %d people, want %d", site, people[site], want)
		}
	}
	for _, class := range Classes() {
		if classes[class] == 0 {
			t.Errorf("class %s has no photo", class)
		}
	}
}
