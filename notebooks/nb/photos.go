package nb

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/datasets"
)

// Extract computes features of the images in a folder with a network that was trained on
// ImageNet, and returns the file of features, the Root of a [Run] on the data set features.
// The classes are needed if photos are not in class folders. Cached features are reused. Its
// progress output is replaced by the next output, so a cell has
// the same outputs however long this takes. In quick mode the network has random weights.
func Extract(root string, classes ...string) (file string) {
	b, start := new(bar), time.Now()
	o := photos.Options{Classes: classes, Progress: func(done, total int) {
		if done < total && time.Since(start) > patience { // else there is nothing to wait for
			b.show(float64(done)/float64(total), false, fmt.Sprintf("%d of %d images", done, total))
		}
	}}
	if IsQuick() {
		o.By = datasets.Origin{Weights: config.NoWeights, Size: 32}
	}
	o.By.Layout = Must(datasets.Recognise(os.DirFS(root), nil, classes, nil))
	file = Must(photos.Embed(context.Background(), root, o))
	if b.id != "" {
		b.html("<p>the features of all images are computed</p>")
		vacant = b.id
	}
	return file
}

// patience is how long a cell computes before it shows its progress.
const patience = 10 * time.Second
