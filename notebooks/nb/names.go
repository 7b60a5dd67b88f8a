package nb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/visit"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
)

// Types of other packages that cells use, so that a notebook needs the import of nb alone.
type (
	Folder        = report.Folder
	TableOptions  = report.TableOptions
	FigureOptions = report.FigureOptions
	Record        = result.Record
	Query         = result.Query
	SiteOptions   = visit.Options
	Interval      = audit.Interval
	Dataset       = datasets.Dataset
	Truth         = datasets.Truth
	Tile          = plots.Tile
	Score         = plots.Score
	ContactData   = plots.ContactData
	Curve         = plots.Curve
	Point         = plots.Point
	EpochsData    = plots.EpochsData
)

// Data opens a data set of [datasets.Names], with the true classes. root is the folder of its images or its file
// of features; glyphs need none.
func Data(name, root string) (*Dataset, Truth) {
	d, truth, err := datasets.Open(name, root, datasets.Options{})
	Check(within(root, err))
	return d, truth
}

// Emoji is the file of features of the data set emoji that ledg comes with, the Root of a [Run] on the data set
// features.
func Emoji() string { return committed("..", "datasets", "emoji", "lite0.npz") }

// Clothes is the same of the photographs of clothes, with 15 homes and sites.
func Clothes() string { return committed("..", "datasets", "clothes", "lite0.npz") }

// Describe prints how many images of each class and domain a data set has.
func Describe(name, root string) {
	d, truth := Data(name, root)
	fmt.Print(Must(datasets.Check(context.Background(), d, truth, nil)))
}

// Sample shows the first image of each class in each domain, or in those named: a row for a domain, a column for a
// class, and of more than eight classes the first eight. Images of unknown class fill free places.
func Sample(name, root string, domains ...string) Fig {
	data, truth := Data(name, root)
	for _, d := range domains {
		if !slices.Contains(data.Domains, d) {
			Check(fmt.Errorf("%s has no domain %q, but %s", name, d, strings.Join(data.Domains, ", ")))
		}
	}
	return ContactSheet(sample(data, truth, domains...))
}

func sample(data *Dataset, truth Truth, domains ...string) ContactData {
	if domains == nil {
		domains = data.Domains
	}
	columns := 8
	if n := len(data.Classes); n > 0 && truth.Known() > 0 {
		columns = min(n, columns)
	}
	free := Tile{Image: image.NewNRGBA(image.Rect(0, 0, 1, 1)), Class: "no image"}
	tiles := slices.Repeat([]Tile{free}, len(domains)*columns)
	for i, e := range data.Examples {
		at := slices.Index(domains, data.Domains[e.Domain])
		if at < 0 {
			continue
		}
		row := tiles[at*columns:][:columns]
		k, class := truth.Class(i), "class unknown"
		if k != datasets.Unknown {
			class = data.Classes[k]
		} else {
			k = slices.IndexFunc(row, func(t Tile) bool { return t.Domain == "" })
		}
		if k >= 0 && k < columns && row[k].Domain == "" {
			row[k] = Tile{Image: Must(data.Image(i)).ToImage(), Class: class, Domain: data.Domains[e.Domain]}
		}
	}
	return ContactData{Tiles: tiles, Columns: columns}
}

// Images shows images in rows, with class, domain and scores below.
func Images(tiles []Tile) Fig { return ContactSheet(ContactData{Tiles: tiles}) }

// ContactSheet shows images in rows of Columns, with a note below.
func ContactSheet(d ContactData) Fig {
	return showFig(func(t plots.Theme) (*plots.Grid, error) { return plots.ContactSheet(t, d) })
}

// Epochs shows curves over epochs.
func Epochs(d EpochsData) Fig {
	return showFig(func(t plots.Theme) (*plots.Grid, error) { return plots.Epochs(t, d) })
}

// Records returns the records of a run, one per epoch.
func Records(dir string) []Record { return Must(result.OpenRun(dir)).Records }

// Queries returns the queried images of a run, in the order of the rounds.
func Queries(dir string) []Query { return Must(Must(result.OpenRun(dir)).Queries()) }

// OpenRun returns the folder of a single run, for [Figure].
func OpenRun(dir string) *Folder { return Must(report.OpenRun(dir)) }

// Embed returns the features and probabilities of all images of the pool by the network of a
// finished run. A run whose weights are not stored is trained again first, in [Dir]("weights").
func Embed(dir string) *ceg.Embedding {
	run := Must(result.OpenRun(dir))
	return Must(ceg.Embed(context.Background(), ceg.Options{Dir: withWeights(run, run.Config.Schedule.Epochs)}))
}

// withWeights returns a folder with the weights of a run after a number of epochs: its own, or one in
// [Dir]("weights") in which it is trained again that far.
func withWeights(run *result.Run, epochs int) string {
	c := run.Config
	last := epochs == c.Schedule.Epochs
	if last && checkpoint.Exists(run.Path) {
		return run.Path
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	at := Must(result.Locate(run.Path, c.Data.Dataset, result.Place{}))
	id := Must(examples.Identify(ctx, c.Data, run.Path, at))
	Check(id.Check(run.Path, Result(run.Path)))
	o := ceg.Options{Dir: filepath.Join(Dir("weights"), runName(c, id)), Root: at.Root, SplitsDir: at.SplitsDir, Labels: at.Labels, FollowLinks: at.FollowLinks}
	b := &bar{runs: 1}
	if last {
		Check(b.run(ctx, c, o, model.WeightArgs{}))
		b.end(o.Dir)
		return o.Dir
	}
	dir := fmt.Sprintf("%s-epoch%d", o.Dir, epochs)
	if checkpoint.Exists(dir) {
		return dir
	}
	o.Dir = dir + ".part"
	o.Observe = func(e ceg.Event) {
		if e.Done && e.Epoch+1 == epochs {
			stop()
		}
	}
	if err := b.run(ctx, c, o, model.WeightArgs{}); !errors.Is(err, context.Canceled) {
		Check(cmp.Or(err, fmt.Errorf("%s has later epochs: remove it", o.Dir)))
	}
	Check(os.Rename(o.Dir, dir))
	return dir
}
