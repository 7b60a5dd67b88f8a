package interactive

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"runtime"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/sync/errgroup"
)

const (
	// side is the side of the pictures in pixels, and smallSide where the first image is no
	// larger: whole blocks of JPEG's, so that neighbours on the sheet do not shine through.
	side, smallSide = 48, 32
	// maxPictures is the number of pictures of the larger side in a figure; photos of that number
	// take a megabyte in base64; as many more of the smaller side as have as many pixels.
	maxPictures = 1000
	// sheetColumns is the number of pictures in a row of the sheet.
	sheetColumns = 32
)

// addSheet puts the images on one sheet and describes which are included: of too many, queried
// images first, then others at equal intervals.
func (f *Figure) addSheet(ctx context.Context, s *spec) (summary string, err error) {
	n := len(f.IDs)
	first, err := f.Picture(ctx, 0)
	if err != nil {
		return "", err
	}
	side, most := side, maxPictures
	if b := first.Bounds(); max(b.Dx(), b.Dy()) <= smallSide {
		side, most = smallSide, maxPictures*side*side/smallSide/smallSide
	}
	list := f.pictured(most)
	sheet := image.NewRGBA(image.Rect(0, 0, side*min(len(list), sheetColumns), side*((len(list)+sheetColumns-1)/sheetColumns)))
	draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.Gray{128}), image.Point{}, draw.Src)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for k, i := range list {
		work.Go(func() error {
			m, err := f.Picture(ctx, i)
			if err != nil {
				return err
			}
			b := m.Bounds()
			scale := float64(side) / float64(max(b.Dx(), b.Dy()))
			w, h := max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))
			at := image.Pt(k%sheetColumns*side+(side-w)/2, k/sheetColumns*side+(side-h)/2)
			xdraw.CatmullRom.Scale(sheet, image.Rect(0, 0, w, h).Add(at), m, b, xdraw.Src, nil)
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, sheet, &jpeg.Options{Quality: 65}); err != nil {
		return "", err
	}
	s.Sheet, s.Columns = string(dataURL("image/jpeg", b.Bytes())), min(len(list), sheetColumns)
	if len(list) == n {
		return fmt.Sprintf("Thumbnails of all %d images.", n), nil
	}
	s.Pictures = list
	return fmt.Sprintf("Thumbnails of %d of the %d images: the queried ones first, then others at equal distances in the table.", len(list), n), nil
}

// pictured are the images with a picture, in the order of the sheet, at most n.
func (f *Figure) pictured(n int) []int {
	var all, queried, others []int
	for i, r := range f.Rounds {
		all = append(all, i)
		if r >= 0 {
			queried = append(queried, i)
		} else {
			others = append(others, i)
		}
	}
	if len(all) <= n {
		return all
	}
	list := spread(queried, n)
	return append(list, spread(others, n-len(list))...)
}

// spread returns at most n of a list, at equal distances.
func spread(list []int, n int) []int {
	if len(list) <= n {
		return list
	}
	some := make([]int, n)
	for k := range some {
		some[k] = list[k*len(list)/n]
	}
	return some
}
