package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// computeViews replaces the run's images by the outputs of the frozen front of its network on
// Data.Views views of each. They are cached in a file named by everything that they depend on.
// Data.SplitSeed draws the views, so runs with other seeds share them. Old files may be deleted
// at any time.
func (r *run) computeViews(ctx context.Context, o Options) error {
	if r.c.Data.Views == 0 {
		return nil
	}
	start := time.Now()
	params, values, err := r.front()
	if err != nil {
		return err
	}
	byName := map[string][]float32{}
	for i, p := range params {
		byName[p.Name] = values[i]
	}
	pixels := model.Pixels(r.parted.Front, r.trainer.Objective)
	x, err := model.FrontExtractor(r.trainer.Backend, r.parted, pixels, r.c.Data.ImageSize, byName)
	if err != nil {
		return err
	}
	defer x.Close()
	path, err := r.viewsFile(ctx, o, x, pixels, model.Digest(params, values))
	if err != nil {
		return fmt.Errorf("views of the frozen part: %w", err)
	}
	made, _, err := datasets.Open("features", path, datasets.Options{})
	if err != nil {
		return err
	}
	set, err := r.examples.Computed(ctx, r.campaign.Data, made, r.parted.Maps, o.CacheDir, o.Shared)
	if err != nil {
		return err
	}
	r.examples = set
	r.timing.Prepare += time.Since(start).Seconds()
	return r.trainer.SetExamples(r.examples, r.campaign.SourceNames(), o.Workers)
}

func (r *run) front() (params []nets.Param, values [][]float32, err error) {
	if params, _, err = nets.Params(r.parted.Front, r.c.Data.ImageSize); err != nil {
		return nil, nil, err
	}
	state, err := r.trainer.Learner.State()
	if err != nil {
		return nil, nil, err
	}
	all := map[string][]float32{}
	for i, p := range r.trainer.Learner.Params() {
		all[p.Name] = state.Weights[i]
	}
	for _, p := range params {
		values = append(values, all[p.Name])
	}
	return params, values, nil
}

// viewsFile returns the path of the file of the views, which is there then; weights is the digest
// of the front's. Processes that want
// the same one wait for the one that makes it.
func (r *run) viewsFile(ctx context.Context, o Options, x *model.Extractor, pixels nets.Pixels, weights string) (string, error) {
	dir, err := datasets.CacheFolder(o.CacheDir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	d := r.c.Data
	origin := datasets.Origin{Network: r.parted.Front.Name, WeightsDigest: weights}
	depends := fmt.Appendf(nil, "ledg views 1\n%s\n%s\n%v %v\n%d %d %d %d\n%s", r.examples.Digest, weights,
		r.parted.Front.Norm.OrDefault(), pixels, r.parted.Maps[0], r.parted.Maps[2], d.Views, d.SplitSeed, x.Description)
	if n := r.c.Network; n.Code != "" { // another function may have the same weights
		depends = fmt.Appendf(depends, "\n%s %s", n.Name, n.Code)
	}
	key := sha256.Sum256(depends)
	path := filepath.Join(dir, fmt.Sprintf("%s-views-%x.safetensors", r.parted.Front.Name, key[:10]))
	lock := regular.NewLock(path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return "", fmt.Errorf("cache folder %s: cannot lock: %w", dir, err)
	}
	defer lock.Unlock() // closing releases the lock; its file stays, for others may wait on it
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	return path, embedding.Write(ctx, path, r.campaign.Data, r.evaluator.Truth, x, embedding.Options{
		Size: d.ImageSize, Views: d.Views, Seed: d.SplitSeed, Origin: origin, Progress: r.reporter.progress("computing views of the frozen part of the network"),
	})
}

// lockInterval is how often a run asks whether another has made the views.
const lockInterval = 50 * time.Millisecond
