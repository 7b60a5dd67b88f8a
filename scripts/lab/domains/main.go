// Command domains writes domain labels for a study in which the true ones are unknown. For each
// target domain of a file of features it writes tables with the columns path and site, one per
// source of the labels:
//
//	merged    all source images are of one domain
//	random    each source image is of a random domain
//	clusters  k-means on the features: signed square roots, then unit length
//	styles    k-means on the mean and the standard deviation of each colour channel
//	early     k-means on the mean and the standard deviation of each channel of an early layer
//	          of EfficientNet-Lite0; only with -early, as it needs the network's weights
//
// Apart from merged, there are as many domains as true source domains. The target's images
// keep their domain. Each table's line on stdout has its target, source and digest, the value of
// data.labels.
//
//	go run -C scripts/lab ./domains [-early] FEATURES FOLDER
//
// The domain labels of built-in images cannot be set. So for glyphs the command also writes the
// images as a folder of photos, in which they have the same IDs:
//
//	go run -C scripts/lab ./domains glyphs PHOTOS
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"image/png"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

func main() {
	log.SetFlags(0)
	early := flag.Bool("early", false, "also write domains by an early layer of EfficientNet-Lite0")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: domains [-early] FEATURES FOLDER | domains glyphs PHOTOS")
	}
	from, to := flag.Arg(0), flag.Arg(1)
	var err error
	if from == datasets.Drawn {
		err = writePhotos(from, to)
	} else {
		err = write(from, to, *early)
	}
	if err != nil {
		log.Fatal("domains: ", err)
	}
}

// write writes the tables of the features at path into a folder, with those of an early layer or
// without.
func write(path, folder string, early bool) error {
	ctx := context.Background()
	data, _, err := datasets.Open(datasets.FeaturesFile, path, datasets.Options{})
	if err != nil {
		return err
	}
	f, _ := data.Features()
	v, err := f.Open(ctx, "")
	if err != nil {
		return err
	}
	defer v.Close()
	features, styles := make([][]float64, data.Len()), make([][]float64, data.Len())
	for i := range data.Len() {
		features[i] = unitRoots(v.View(i, 0))
		if styles[i], err = style(data, i); err != nil {
			return err
		}
	}
	var layer [][]float64
	if early {
		if layer, err = earlyStyles(ctx, data); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for target, name := range data.Domains {
		var sources []int
		for i, e := range data.Examples {
			if e.Domain != target {
				sources = append(sources, i)
			}
		}
		k := len(data.Domains) - 1
		r := rand.New(rand.NewPCG(1, uint64(target)))
		type source struct {
			name   string
			domain []int
		}
		kinds := []source{
			{"merged", make([]int, len(sources))},
			{"random", random(len(sources), k, r)},
			{"clusters", kMeans(rows(features, sources), k, r)},
			{"styles", kMeans(standardised(rows(styles, sources)), k, r)},
		}
		if early {
			kinds = append(kinds, source{"early", kMeans(standardised(rows(layer, sources)), k, r)})
		}
		for _, kind := range kinds {
			table := filepath.Join(folder, name+"-"+kind.name+".csv")
			if err := writeTable(table, data, target, sources, kind.domain); err != nil {
				return err
			}
			list, err := labels.ReadFile(table)
			if err != nil {
				return err
			}
			fmt.Println(name, kind.name, labels.Digest(list))
		}
	}
	return nil
}

// writePhotos writes the images of a built-in data set as PNG files into a folder, by their IDs.
func writePhotos(name, folder string) error {
	data, _, err := datasets.Open(name, "", datasets.Options{})
	if err != nil {
		return err
	}
	for i, e := range data.Examples {
		m, err := data.Image(i)
		if err != nil {
			return err
		}
		var file bytes.Buffer
		if err := png.Encode(&file, m.ToImage()); err != nil {
			return err
		}
		path := filepath.Join(folder, filepath.FromSlash(e.ID))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a domain for each example. The target's images keep their own.
func writeTable(path string, data *datasets.Dataset, target int, sources, domain []int) error {
	var text strings.Builder
	w := csv.NewWriter(&text)
	w.Write([]string{"path", "site"})
	at := 0
	for i, e := range data.Examples {
		site := data.Domains[target]
		if at < len(sources) && sources[at] == i {
			site = fmt.Sprintf("source%d", domain[at]+1)
			at++
		}
		w.Write([]string{e.ID, site})
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return os.WriteFile(path, []byte(text.String()), 0o666)
}

// unitRoots returns the signed square roots of x, scaled to unit length.
func unitRoots(x []float32) []float64 {
	y, norm := make([]float64, len(x)), 0.0
	for j, a := range x {
		y[j] = math.Copysign(math.Sqrt(math.Abs(float64(a))), float64(a))
		norm += math.Abs(float64(a))
	}
	if norm = math.Sqrt(norm); norm > 0 {
		for j := range y {
			y[j] /= norm
		}
	}
	return y
}

// style returns the mean and the standard deviation of each colour channel of an image.
func style(data *datasets.Dataset, i int) ([]float64, error) {
	m, err := data.Image(i)
	if err != nil {
		return nil, err
	}
	pixels := make([]float32, len(m.Pix))
	for p, x := range m.Pix {
		pixels[p] = float32(x)
	}
	return channelStyle(pixels, 3), nil
}

func rows(x [][]float64, list []int) [][]float64 {
	y := make([][]float64, len(list))
	for i, at := range list {
		y[i] = x[at]
	}
	return y
}

// standardised returns the rows with mean 0 and standard deviation 1 in each column.
func standardised(x [][]float64) [][]float64 {
	y := make([][]float64, len(x))
	for i := range x {
		y[i] = make([]float64, len(x[i]))
	}
	for j := range x[0] {
		mean, square := 0.0, 0.0
		for i := range x {
			mean += x[i][j] / float64(len(x))
		}
		for i := range x {
			square += (x[i][j] - mean) * (x[i][j] - mean) / float64(len(x))
		}
		for i := range x {
			if square > 0 {
				y[i][j] = (x[i][j] - mean) / math.Sqrt(square)
			}
		}
	}
	return y
}

func random(n, k int, r *rand.Rand) []int {
	domain := make([]int, n)
	for i := range domain {
		domain[i] = r.IntN(k)
	}
	return domain
}

// kMeans returns the cluster of each row: the best of ten runs of Lloyd's algorithm, each
// initialised by k-means++ (Arthur and Vassilvitskii, SODA 2007).
func kMeans(x [][]float64, k int, r *rand.Rand) []int {
	var best []int
	least := math.Inf(1)
	for range 10 {
		if clusters, cost := lloyd(x, k, r); cost < least {
			best, least = clusters, cost
		}
	}
	return best
}

func lloyd(x [][]float64, k int, r *rand.Rand) (clusters []int, cost float64) {
	centres := [][]float64{x[r.IntN(len(x))]}
	for len(centres) < k {
		_, distances := nearest(x, centres)
		total := 0.0
		for _, d := range distances {
			total += d
		}
		at, u := 0, r.Float64()*total
		for ; at < len(x)-1 && u >= distances[at]; at++ {
			u -= distances[at]
		}
		centres = append(centres, x[at])
	}
	for range 100 {
		next, distances := nearest(x, centres)
		cost = 0
		for _, d := range distances {
			cost += d
		}
		if slices.Equal(next, clusters) {
			break
		}
		clusters = next
		sums, counts := make([][]float64, k), make([]int, k)
		for i, c := range clusters {
			if sums[c] == nil {
				sums[c] = make([]float64, len(x[i]))
			}
			counts[c]++
			for j, a := range x[i] {
				sums[c][j] += a
			}
		}
		for c := range sums {
			if counts[c] > 0 {
				for j := range sums[c] {
					sums[c][j] /= float64(counts[c])
				}
				centres[c] = sums[c]
			}
		}
	}
	return clusters, cost
}

// nearest returns the nearest centre of each row, and its squared distance.
func nearest(x, centres [][]float64) (clusters []int, distances []float64) {
	clusters, distances = make([]int, len(x)), make([]float64, len(x))
	for i, row := range x {
		distances[i] = math.Inf(1)
		for c, centre := range centres {
			d := 0.0
			for j, a := range row {
				d += (a - centre[j]) * (a - centre[j])
			}
			if d < distances[i] {
				clusters[i], distances[i] = c, d
			}
		}
	}
	return clusters, distances
}
