package run

import (
	"os"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// Config describes a run: its data, method and hyperparameters. config.Resolve makes one from
// flags or a file.
type Config = config.Config

// ErrAwaitingLabels is the error of a run that waits for human labels. It lists the unanswered
// queries. The run's state is saved, and [Run] with Options.Resume continues once the labels are
// in the run's ledger (package labels).
type ErrAwaitingLabels = campaign.Awaiting

// Options are the paths, resources and callbacks of a run. They do not change its result.
type Options struct {
	// Dir is the run's folder.
	Dir string
	// Resume continues an unfinished run in Dir, and returns the result of a
	// finished one. Without it a Dir that is not empty is an error.
	Resume bool
	// Root is the folder of the images (glyphs need none) and SplitsDir the folder of the PACS
	// lists. An empty SplitsDir searches Root and its parent. An empty Root uses the folder in
	// which the run in Dir last found its images.
	Root, SplitsDir string
	// Labels is a file of labels of the user's own images, read by labels.ReadFile; Data.Labels
	// is its digest, and Columns names the columns to use. FollowLinks is the field of
	// datasets.Options. All are saved with Root.
	Labels      string
	Columns     datasets.ColumnNames
	FollowLinks bool
	// Damaged are the excluded images that cannot be decoded, with reasons, for the run's list of
	// skipped files.
	Damaged []datasets.Skipped
	// KeepFeatures copies the features at Root into the run's folder, by a hard link where
	// possible, so that the folder is self-contained.
	KeepFeatures bool
	// Weights and Style are the weight files that the config names, opened by model.OpenWeights.
	// A resumed run does not need them.
	Weights, Style *pretrained.Source
	// Backend is the argument of engine.Open; empty selects one.
	Backend string
	// CacheDir holds decoded images; empty uses the default of package datasets.
	CacheDir string
	// Workers is the number of goroutines that augment images; zero means GOMAXPROCS.
	Workers int
	// Shared caches data for several runs of one process: feature files, and labels that a
	// strategy selected before training. Times of later runs do not include this selection. Nil
	// shares nothing.
	Shared *examples.Shared
	// NoEstimate skips the accuracy estimate of a run on features without a measured target. The
	// estimate repeats the training for each fold and each source domain.
	NoEstimate bool
	// Wait makes a run with human annotators wait for labels instead of returning an
	// *ErrAwaitingLabels. While it waits it holds neither the folder nor a device.
	Wait bool
	// Ready, if not nil, is called once the folder of a run with human annotators is ready for
	// the labelling page. It is called before images are prepared, which may take long, and
	// again whenever the run continues or waits. It must return quickly.
	Ready func()
	// Observe, if not nil, is called with the run's progress. It must return quickly.
	Observe func(Event)
}

// networkFile is where the ONNX file of a config's network is: in the run's folder, or where its
// weights were opened.
func (o Options) networkFile(c Config) string {
	in := model.NetworkIn(o.Dir, c)
	if _, err := os.Stat(in); err != nil && o.Weights != nil {
		return o.Weights.Path
	}
	return in
}

func (o Options) place() result.Place {
	return result.Place{Root: o.Root, Keep: o.KeepFeatures && o.Root != "", SplitsDir: o.SplitsDir, Labels: o.Labels, Columns: o.Columns, FollowLinks: o.FollowLinks,
		Weights: o.Weights.Word(), Style: o.Style.Word(), Backend: o.Backend, CacheDir: o.CacheDir}
}
