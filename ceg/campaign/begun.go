package campaign

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

// Begun reads the labels in dir that another run passed on. Their digest must match the
// config's.
func Begun(dir, digest string) ([]Labelled, error) {
	s, _, err := labels.Read(os.DirFS(dir), labels.BegunFile, nil, labels.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	var list []Labelled
	for _, l := range s.Labels() {
		list = append(list, Labelled{labels.Question{ID: l.ID}, l.Class, l.By})
	}
	if now := BegunDigest(list); now != digest {
		return nil, fmt.Errorf("%s has not the labels that the run begins with: their digest was %.12s, it is %.12s", filepath.Join(dir, labels.BegunFile), digest, now)
	}
	return list, nil
}

// BegunDigest returns labels.Digest of the labels.
func BegunDigest(list []Labelled) string {
	existing := make([]datasets.Label, len(list))
	for i, a := range list {
		existing[i] = datasets.Label{ID: a.ID, Class: a.Class}
	}
	return labels.Digest(existing)
}
