package run

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
)

// OpenData opens the data set of the run in o.Dir, which may be unfinished. It looks in o.Root,
// or else where the run last found its images. The Truth holds the classes for the evaluator.
// For a folder of ledg site, it opens the site's images with their human labels as classes.
func OpenData(o Options) (Config, *datasets.Dataset, datasets.Truth, error) {
	if r, err := site.Read(o.Dir); err == nil {
		d, truth, err := r.Known()
		return Config{}, d, truth, err
	}
	c, err := readConfig(o.Dir)
	if err != nil {
		return c, nil, datasets.Truth{}, err
	}
	d, truth, err := examples.Open(c.Data, o.Dir, o.place())
	return c, d, truth, err
}

// LoadModel loads the trained model of the run in o.Dir and opens its data set as OpenData does.
// For a finished run it also loads what calibration and prediction saved, unless o.Root is set;
// this stands in for images that no longer exist. The Truth holds the classes for the evaluator.
func LoadModel(o Options) (*model.Model, datasets.Truth, error) {
	fail := func(err error) (*model.Model, datasets.Truth, error) { return nil, datasets.Truth{}, err }
	c, err := readConfig(o.Dir)
	if err != nil {
		return fail(err)
	}
	var k *artifact.Artifact
	if o.Root == "" && result.Finished(os.DirFS(o.Dir)) {
		if k, err = artifact.Read(o.Dir); err != nil {
			return fail(err)
		}
	}
	d, truth, err := examples.Open(c.Data, o.Dir, o.place())
	if err != nil && k != nil {
		d, truth = k.Dataset(c.Data.Dataset)
	} else if err != nil {
		return fail(err)
	}
	m, err := model.Load(o.Dir, c, d)
	if err != nil {
		return fail(err)
	}
	if m.Artifact = k; k != nil && m.Features != k.Dim {
		return fail(fmt.Errorf("%s: %s has features of %d numbers, and the network makes %d", o.Dir, artifact.File, k.Dim, m.Features))
	}
	return m, truth, nil
}

// ReliableSet returns the reliable set in the last checkpoint of the run in o.Dir: IDs of
// unlabelled images in d that the run trains on, with their pseudo-labels. d is the run's data
// set. The set is empty without a checkpoint and for methods without a reliable set.
func ReliableSet(o Options, d *datasets.Dataset) (map[string]string, error) {
	c, err := readConfig(o.Dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, checkpoint.File)
	state, _, _, err := checkpoint.Read(o.Dir, c, nil)
	if err != nil {
		return nil, err
	}
	var ids []string // of the pool, in its order
	for _, i := range campaign.Places(c, d) {
		ids = append(ids, d.Examples[i].ID)
	}
	set := make(map[string]string, len(state.Reliable))
	for i, k := range state.Reliable {
		class := int(state.ReliableLabels[i])
		switch {
		case k < 0 || int(k) >= len(state.Pool.Hashes) || class < 0 || class >= len(d.Classes):
			return nil, fmt.Errorf("%s: the reliable set has image %d of class %d, of %d images and %d classes", path, k, class, len(state.Pool.Hashes), len(d.Classes))
		case int(k) >= len(ids) || crc32.Checksum([]byte(ids[k]), crc32.MakeTable(crc32.Castagnoli)) != state.Pool.Hashes[k]:
			return nil, fmt.Errorf("%s: the reliable set has images that %s does not have now", path, d.Name)
		}
		set[ids[k]] = d.Classes[class]
	}
	return set, nil
}

// CheckImages returns an error if the images at o.Root differ from those that the finished run
// in o.Dir was trained on.
func CheckImages(ctx context.Context, o Options) error {
	c, err := readConfig(o.Dir)
	if err != nil {
		return err
	}
	fsys, err := result.FS(o.Dir)
	if err != nil {
		return err
	}
	res, err := result.ReadResult(fsys, result.ResultFile)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Dir, err)
	}
	id, err := examples.Identify(ctx, c.Data, o.Dir, o.place())
	if err != nil {
		return err
	}
	return id.Check(o.Dir, &res)
}
