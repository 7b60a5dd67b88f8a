package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// checkFolder refuses to go on in a study's folder with the images of another
// one, of a data set whose name does not tell one from another.
func (p *Plan) checkFolder(ctx context.Context, folder *result.Runs, o Options) error {
	for _, r := range p.Runs {
		dir, root := filepath.Join(o.Dir, r.Dir), o.Roots[r.Dataset]
		if info, _ := datasets.Lookup(r.Dataset); root == "" || !info.Yours {
			continue
		}
		if s, err := folder.State(r.Dir); err != nil {
			return err
		} else if s == result.Complete {
			return ceg.CheckImages(ctx, ceg.Options{Dir: dir, Root: root, CacheDir: o.CacheDir})
		}
	}
	return nil
}

// announce writes the plan into the folder, with the revision of this program among those that
// have worked on it. Other revisions in the folder, and in finished runs, are an error unless the
// options mix commits.
func (p *Plan) announce(folder *result.Runs, o Options) error {
	own := cmp.Or(o.Revision, result.Revision(result.Build()))
	file := p.File()
	switch old, err := result.ReadPlans(folder.Path, p.Name); {
	case err == nil:
		file.Revisions = old[0].Revisions
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if !o.MixCommits {
		others, err := p.revisions(folder)
		if err != nil {
			return err
		}
		for _, r := range file.Revisions {
			others[r] = true
		}
		delete(others, own)
		if len(others) > 0 {
			return fmt.Errorf("%s: runs of the study %s are by commit %s, this is %s: build that commit, take another folder, or say that commits may be mixed, which its tables then say",
				folder.Path, p.Name, strings.Join(slices.Sorted(maps.Keys(others)), " and "), cmp.Or(own, "a build that does not name its commit"))
		}
	}
	if own != "" && !slices.Contains(file.Revisions, own) {
		file.Revisions = append(file.Revisions, own)
	}
	return file.Write(folder.Path)
}

// revisions returns the revisions of the plan's finished runs.
func (p *Plan) revisions(folder *result.Runs) (map[string]bool, error) {
	found, seen := map[string]bool{}, map[string]bool{}
	for _, r := range p.Runs {
		if seen[r.Dir] {
			continue
		}
		seen[r.Dir] = true
		if s, err := folder.State(r.Dir); err != nil {
			return nil, err
		} else if s != result.Complete {
			continue
		}
		fsys, err := folder.FS(r.Dir)
		if err != nil {
			return nil, err
		}
		res, err := result.ReadResult(fsys, result.ResultFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Dir, err)
		}
		for _, r := range res.Revisions() {
			found[r] = true
		}
	}
	return found, nil
}
