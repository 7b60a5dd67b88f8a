package ask

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

// Begun reads the labels in dir that another run passed on. Their digest must match the
// config's.
func Begun(dir, digest string) ([]Answer, error) {
	s, _, err := labels.Read(os.DirFS(dir), labels.BegunFile, nil, labels.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	var list []Answer
	for _, l := range s.Labels() {
		list = append(list, Answer{labels.Question{ID: l.ID}, l.Class, l.By})
	}
	if now := BegunDigest(list); now != digest {
		return nil, fmt.Errorf("%s has not the labels that the run begins with: their digest was %.12s, it is %.12s", filepath.Join(dir, labels.BegunFile), digest, now)
	}
	return list, nil
}

// BegunDigest returns labels.Digest of the labels.
func BegunDigest(list []Answer) string {
	given := make([]datasets.Label, len(list))
	for i, a := range list {
		given[i] = datasets.Label{ID: a.ID, Class: a.Class}
	}
	return labels.Digest(given)
}
