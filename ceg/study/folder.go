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

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// checkFolder returns an error if a finished run in a study's folder has used other data than is at
// the options' roots now. It returns the data sets that have finished runs and no root.
func (p *Plan) checkFolder(ctx context.Context, folder *result.Runs, o Options) (unchecked []string, err error) {
	files, err := labelFiles(o.Labels)
	if err != nil {
		return nil, err
	}
	known := map[string]examples.Identity{} // by the settings of the data
	for _, r := range p.Runs {
		c := r.Config.Data
		info, _ := datasets.Lookup(c.Dataset)
		if slices.Contains(unchecked, c.Dataset) {
			continue
		}
		if s, err := folder.State(r.Dir); err != nil {
			return nil, err
		} else if s != result.Complete {
			continue
		}
		if info.Files && o.Roots[c.Dataset] == "" {
			unchecked = append(unchecked, c.Dataset)
			continue
		}
		res, err := folder.Result(r.Dir)
		if err != nil {
			return nil, err
		}
		c.Target = ""
		key := fmt.Sprintf("%+v", c)
		if _, ok := known[key]; !ok {
			at := result.Place{Root: o.Roots[c.Dataset], SplitsDir: o.SplitsDir, Labels: files[c.Labels], CacheDir: o.CacheDir}
			if known[key], err = examples.Identify(ctx, c, filepath.Join(o.Dir, r.Dir), at); err != nil {
				return nil, err
			}
		}
		if err := known[key].Check(filepath.Join(o.Dir, r.Dir), res); err != nil {
			return nil, err
		}
	}
	return unchecked, nil
}

func labelFiles(paths []string) (map[string]string, error) {
	files := map[string]string{}
	for _, path := range paths {
		list, err := labels.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[labels.Digest(list)] = path
	}
	return files, nil
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
		res, err := folder.Result(r.Dir)
		if err != nil {
			return nil, err
		}
		for _, r := range res.Revisions() {
			found[r] = true
		}
	}
	return found, nil
}
