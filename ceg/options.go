package ceg

import (
	"os"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels/ask"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/result"
)

// Config is what a run is; config.Resolve makes one of what a person says.
type Config = config.Config

// ErrAwaitingLabels is the error of a run that has asked people for labels and cannot
// go on without them: it names the questions that nobody has answered. Everything is
// saved, and [Run] goes on with Options.Resume once the answers are in the run's ledger
// (package labels).
type ErrAwaitingLabels = ask.Awaiting

// Options say where and how a run happens. They do not change its result.
type Options struct {
	// Dir is the run's directory.
	Dir string
	// Resume continues an unfinished run in Dir, and returns the result of a
	// finished one. Without it a Dir that is not empty is an error.
	Resume bool
	// Root is the folder of the images, which glyphs do not have, and SplitsDir that
	// of the PACS lists; empty looks in and beside Root. Without a Root the images
	// are where the run in Dir last found them.
	Root, SplitsDir string
	// Labels is a file of labels of the user's own images, which labels.ReadFile reads;
	// Data.Labels is its digest. FollowLinks is that of datasets.Options. Both are
	// remembered with Root.
	Labels      string
	FollowLinks bool
	// KeepFeatures keeps the features at Root in the run's folder (a link to the same bytes
	// where the file system has links), so that it is whole by itself.
	KeepFeatures bool
	// Weights and Style are the files of the weights that the config names;
	// model.OpenWeights opens them. A run that goes on has what it needs of them.
	Weights, Style *pretrained.Source
	// Backend is what engine.Open takes; empty chooses.
	Backend string
	// CacheDir holds decoded images; empty means datasets' default.
	CacheDir string
	// Workers is the number of goroutines that make views; zero means GOMAXPROCS.
	Workers int
	// Beginnings is a folder in which runs share what they have in common: runs
	// that differ in nothing but how they choose what to ask are the same until
	// they ask for the first time, so the first one leaves its state there and the
	// others go on from it, to the same bytes. Only the same executable on the same
	// engine shares: its settings (TF32, XLA_FLAGS), its plugin and its device count.
	// Their times hold those of the shared epochs as the first run took them. Empty
	// shares nothing.
	Beginnings string
	// Shared keeps what runs of one process can share: files of features, and the labels
	// that a strategy chose before training, which a later run's times then do not hold;
	// nil shares nothing.
	Shared *examples.Shared
	// Wait lets a run that asks people wait for their answers, and go on, instead of
	// returning an *ErrAwaitingLabels. It holds nothing meanwhile: neither the folder
	// nor a device.
	Wait bool
	// Asking, if not nil, is called when a run that asks people has its folder, with what
	// ledg label needs to show its page: before images are prepared, which may take long, and
	// again whenever the run goes on. It must return quickly.
	Asking func()
	// Observe is called with the run's progress; nil for nobody. It must return
	// quickly.
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

// place is what a run remembers of its options.
func (o Options) place() result.Place {
	return result.Place{Root: o.Root, Keep: o.KeepFeatures && o.Root != "", SplitsDir: o.SplitsDir, Labels: o.Labels, FollowLinks: o.FollowLinks,
		Weights: o.Weights.Word(), Style: o.Style.Word(), Backend: o.Backend, CacheDir: o.CacheDir}
}

// where says where the data set is.
func (o Options) where() examples.Where {
	return examples.Where{Dir: o.Dir, Root: o.Root, SplitsDir: o.SplitsDir, Labels: o.Labels, FollowLinks: o.FollowLinks, CacheDir: o.CacheDir}
}
