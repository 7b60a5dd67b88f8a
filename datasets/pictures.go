package datasets

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// PictureCount counts what decoding revealed of the pictures of a domain.
type PictureCount struct {
	Domain string `json:"domain"`
	// Decoded is the number of pictures. Paged of them have several pages, from FewestPages to
	// MostPages; the first page of Previews is a preview of a later one.
	Decoded     int `json:"decoded"`
	Paged       int `json:"paged"`
	FewestPages int `json:"fewest_pages"`
	MostPages   int `json:"most_pages"`
	Previews    int `json:"previews"`
	// Narrow pictures use a part of their 16 bits, from Low to High. Flat ones are nearly black, or
	// nearly of one colour; none is counted twice.
	Narrow int    `json:"narrow"`
	Low    uint16 `json:"low"`
	High   uint16 `json:"high"`
	Flat   int    `json:"flat"`
}

// Add counts a picture.
func (c *PictureCount) Add(f rgb.Facts) {
	c.Decoded++
	if f.Pages > 1 {
		if c.Paged++; c.Paged == 1 {
			c.FewestPages = f.Pages
		}
		c.FewestPages, c.MostPages = min(c.FewestPages, f.Pages), max(c.MostPages, f.Pages)
	}
	if f.Preview {
		c.Previews++
	}
	switch {
	case f.Narrow():
		if c.Narrow++; c.Narrow == 1 {
			c.Low = f.Low
		}
		c.Low, c.High = min(c.Low, f.Low), max(c.High, f.High)
	case f.Flat:
		c.Flat++
	}
}

// window is the range of values that all narrow pictures fit in: all values of a sensor with fewer
// bits where they use a quarter of these, or what they use.
func (c *PictureCount) window() (low, high int) {
	low, high = int(c.Low), int(c.High)
	if sensor := 1<<bits.Len16(c.High) - 1; sensor < 1<<16-1 && 4*(high-low) >= sensor {
		return 0, sensor
	}
	return low, high
}

// pictureLines describes pictures that can be decoded and yet mislead a network, one line each;
// nothing for ordinary ones. A share of flat pictures of a domain below least is not described.
func pictureLines(counts []PictureCount, least float64) []string {
	var all PictureCount
	for _, c := range counts {
		if c.Paged > 0 {
			if all.Paged == 0 {
				all.FewestPages = c.FewestPages
			}
			all.FewestPages, all.MostPages = min(all.FewestPages, c.FewestPages), max(all.MostPages, c.MostPages)
		}
		all.Paged, all.Previews = all.Paged+c.Paged, all.Previews+c.Previews
	}
	var lines []string
	if all.Paged > 0 {
		pages := strconv.Itoa(all.FewestPages)
		if all.MostPages > all.FewestPages {
			pages += fmt.Sprintf(" to %d", all.MostPages)
		}
		line := fmt.Sprintf("%s %s %s pages; the first is used", plural(all.Paged, "file"), verb(all.Paged, "has", "have"), pages)
		if all.Previews > 0 {
			line += fmt.Sprintf(", which is a preview of a larger one in %d", all.Previews)
		}
		lines = append(lines, line+": --decode page2 uses the second; three as colours, magick 'FILE[0-2]' -combine COPY.png")
	}
	for _, c := range counts {
		of := ""
		if c.Domain != "" {
			of = " of " + printable(c.Domain)
		}
		if c.Narrow > 0 {
			low, high := c.window()
			percent := func(v int) string {
				return strconv.FormatFloat(float64((v*10000+1<<15)/65535)/100, 'f', -1, 64) + "%"
			}
			seem := "of nearly one brightness"
			if high < 1<<14 {
				seem = "nearly black"
			}
			lines = append(lines, fmt.Sprintf("%s%s %s %.0f%% of the 16 bits (values %d to %d), %d of 256 brightness levels, and %s %s for the network: convert all with one window, magick FILE -level %s,%s COPY.png",
				plural(c.Narrow, "image"), of, verb(c.Narrow, "uses", "use"), float64(high-low+1)/655.36, low, high, high>>8-low>>8+1, verb(c.Narrow, "is", "are"), seem, percent(low), percent(high)))
		}
		if c.Flat > 0 && float64(c.Flat) >= least*float64(c.Decoded) {
			lines = append(lines, fmt.Sprintf("%d of %s%s (%.0f%%) %s nearly black or of one colour", c.Flat, plural(c.Decoded, "image"), of, 100*float64(c.Flat)/float64(c.Decoded), verb(c.Flat, "is", "are")))
		}
	}
	return lines
}

// seen are the facts of examples that were decoded.
type seen struct {
	mu    sync.Mutex
	facts map[int]rgb.Facts
}

func (s *seen) note(i int, f rgb.Facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts == nil {
		s.facts = map[int]rgb.Facts{}
	}
	s.facts[i] = f
}

// Pictures counts what decoding has revealed so far of each domain's files; nil if nothing was
// decoded.
func (d *Dataset) Pictures() []PictureCount {
	files, ok := d.source.(*fileSource)
	if !ok {
		return nil
	}
	files.seen.mu.Lock()
	defer files.seen.mu.Unlock()
	counts := make([]PictureCount, len(d.Domains))
	for i, f := range files.seen.facts {
		counts[d.Examples[i].Domain].Add(f)
	}
	for k, name := range d.Domains {
		counts[k].Domain = name
	}
	return slices.DeleteFunc(counts, func(c PictureCount) bool { return c.Decoded == 0 })
}

// manyFlat is the share of flat pictures of a domain that every command describes.
const manyFlat = 0.1

// SayPictures describes in a few lines what decoding has revealed; "" for nothing unusual.
func (d *Dataset) SayPictures() string { return SayPictures(d.Pictures()...) }

// SayPictures joins the lines of pictureLines.
func SayPictures(counts ...PictureCount) string {
	return strings.Join(pictureLines(counts, manyFlat), "\n")
}
