package nb

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// SaveImages writes images of a built-in data set as PNG files: at most n of each class and domain, in
// the folder that place returns for them, or nowhere if it returns "". Files that exist stay. It
// returns the true class of such a file by its path.
func SaveImages(dataset string, n int, place func(domain, class string) string) (class func(file string) string) {
	d, truth := Data(dataset, "")
	count := map[[2]int]int{}
	for i, e := range d.Examples {
		of := [2]int{e.Domain, truth.Class(i)}
		dir := place(d.Domains[of[0]], d.Classes[of[1]])
		if count[of]++; dir == "" || count[of] > n {
			continue
		}
		file := filepath.Join(dir, fmt.Sprintf("%05d.png", i))
		if _, err := os.Stat(file); err == nil {
			continue
		}
		m := Must(d.Image(i))
		Check(os.MkdirAll(dir, 0o777))
		Check(regular.WriteFile(file, func(w io.Writer) error { return png.Encode(w, m.ToImage()) }))
	}
	return func(file string) string {
		i := Must(strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".png")))
		return d.Classes[truth.Class(i)]
	}
}

// LabelCounts shows how many labels a run has of each domain and class.
func LabelCounts(dir string) {
	t := report.CrossTable(Queries(dir), false)
	for _, class := range Result(dir).Classes {
		if t.Column(class) < 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("There are no labels of %s.", class))
		}
	}
	Table(t, nil)
}

// Predict classifies the image files in a folder, at any depth, with the model of a finished run or of
// a site's folder. It writes a table as `ledg predict` does: .csv, .parquet or .jsonl.
func Predict(dir, images, table string) {
	p := Must(predict.Open(dir))
	defer p.Close()
	done := Must(p.Files(context.Background(), predict.FilesOptions{Images: []string{images}, Out: table}))
	fmt.Printf("%d images predicted, %d could not be read\n", done.Predicted, done.Failed)
}

// Contact shows images of a table by [Predict]: a row each of the n most confident, the n with the
// smallest margin between the two best classes, and the n farthest from all labelled images.
func Contact(table string, n int) Fig {
	return ContactSheet(Must(predict.Contact(table, n)))
}

// Classify returns the class of each image file by the model of a finished run or of a site's folder.
func Classify(dir string, files ...string) (classes []string) {
	p := Must(predict.OpenWith(ceg.Options{Dir: dir, Backend: "go"}))
	defer p.Close()
	Check(p.Look(context.Background(), files, func(i int, _, logits []float32, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", files[i], err)
		}
		classes = append(classes, p.Model.Data.Classes[slices.Index(logits, slices.Max(logits))])
		return nil
	}))
	return classes
}

// AdaptationSet returns the images that a site's first visit has labelled for adaptation, by their
// paths relative to its folder of images.
func AdaptationSet(dir string) (ids []string) {
	r := Must(site.Read(dir))
	if len(r.Visits) == 0 {
		Check(fmt.Errorf("%s: the site has no visit yet", dir))
	}
	return r.Visits[0].A
}

// Wilson returns the 95% score interval of Wilson 1927 of the proportion of n images that are right.
func Wilson(right, n int) Interval {
	return audit.Wilson(result.Tally{Correct: right, Total: n})
}

// Extract computes features of the images in a folder with a network that was trained on
// ImageNet, and returns the file of features, the Root of a [Run] on the data set features.
// The classes are needed if photos are not in class folders; runs of the same cell on the file then have them. Cached features are reused. In quick mode the network has random weights.
func Extract(root string, classes ...string) (file string) {
	b, start := new(bar), time.Now()
	o := photos.Options{Classes: classes, Progress: func(done, total int) {
		if done < total && time.Since(start) > patience { // else there is nothing to wait for
			b.show(float64(done)/float64(total), fmt.Sprintf("%d of %d images", done, total))
		}
	}}
	if IsQuick() {
		o.By = datasets.Origin{Weights: config.NoWeights, Size: 32}
	}
	o.By.Decoding = rgb.Scaled
	o.By.Layout = Must(datasets.Recognise(os.DirFS(root), nil, classes, nil))
	file, err := photos.Embed(context.Background(), root, o)
	Check(within(root, err))
	if len(classes) > 0 {
		if data, _ := Data(datasets.FeaturesFile, file); len(data.Classes) == 0 {
			extracted[file] = classes
		}
	}
	if b.id != "" {
		b.text("the features of all images are computed")
	}
	return file
}

// extracted are the classes of files of features that have none, as a cell has named them to [Extract].
var extracted = map[string][]string{}

// patience is how long a cell computes before it shows its progress.
const patience = 10 * time.Second
