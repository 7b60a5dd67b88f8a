package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// trapSide is the width and height of a photo of a camera trap, trapFrames the number of photos of a burst.
const trapSide, trapFrames = 96, 3

// trapPhoto is a photo: its path, its class (blank for none), its event and the boxes of its animals.
type trapPhoto struct {
	Path, Class, Event string
	Time               time.Time
	Boxes              []rgb.Box
}

// makeTraps makes data whose answer is known: emoji as animals, at random places on the background of
// their camera. It writes photos of bursts per camera, CAMERA/IMG_DATE_TIME.jpg, and the file md.json of
// MegaDetector, which misses the animal of every 20th photo and sees one, of score 0.3, in every 20th
// blank. Cameras have their own background, light and grain, and mostly one of the classes, whose emoji are
// those of files of the embedded data set.
func makeTraps(t testing.TB, dir string, cameras []string, bursts int, classes map[string]string) (photos []trapPhoto) {
	t.Helper()
	d, _, err := datasets.Emoji(datasets.Options{})
	fatal.If(t, err)
	var names []string
	glyphs := map[string]*rgb.Image{}
	for name, id := range classes {
		i, ok := d.Index(id)
		if !ok {
			t.Fatalf("no emoji %s", id)
		}
		names, glyphs[name] = append(names, name), fatal.Get(d.Image(i))(t)
	}
	slices.Sort(names)
	type detection struct {
		Category string    `json:"category"`
		Conf     float64   `json:"conf"`
		Bbox     []float64 `json:"bbox"`
	}
	type found struct {
		File       string      `json:"file"`
		Detections []detection `json:"detections"`
	}
	var list []found
	for c, camera := range cameras {
		fatal.If(t, os.MkdirAll(filepath.Join(dir, camera), 0o777))
		r := seed.New(1, "camera "+camera)
		base := [3]float64{60 + 130*r.Float64(), 60 + 130*r.Float64(), 60 + 130*r.Float64()}
		grain, light := 4+20*r.Float64(), r.Float64()*math.Pi
		now := time.Date(2026, 5, 1+c, 6, 0, 0, 0, time.UTC)
		for b := range bursts {
			now = now.Add(time.Duration(5+r.IntN(120)) * time.Minute)
			class := names[(c+b)%len(names)]
			if r.Float64() < 0.6 { // of every camera one is frequent
				class = names[c%len(names)]
			}
			if b%5 == 4 {
				class = "blank"
			}
			at := rgb.Box{X: 0.7 * r.Float64(), Y: 0.7 * r.Float64(), W: 0.16 + 0.14*r.Float64()}
			at.H = at.W
			for f := range trapFrames {
				m := rgb.New(trapSide, trapSide)
				for i := range m.Pix {
					x, y := float64(i/3%trapSide)/trapSide, float64(i/3/trapSide)/trapSide
					v := base[i%3] + 40*math.Sin(light+6*x+3*y*float64(1+c%3)) + grain*r.NormFloat64()
					m.Pix[i] = uint8(min(max(v, 0), 255))
				}
				p := trapPhoto{Class: class, Time: now.Add(time.Duration(2*f) * time.Second)}
				p.Path = camera + "/IMG_" + p.Time.Format("20060102_150405") + ".jpg"
				p.Event = camera + "/" + now.Format("2006-01-02T15-04-05")
				seen := found{File: p.Path, Detections: []detection{}}
				at.X, at.Y = min(at.X+0.02*r.Float64(), 1-at.W), min(at.Y+0.02*r.Float64(), 1-at.H)
				box := []float64{round(at.X), round(at.Y), round(at.W), round(at.H)}
				switch n := len(photos); {
				case class != "blank":
					paste(m, glyphs[class], at)
					if n%20 != 7 {
						p.Boxes = []rgb.Box{{X: box[0], Y: box[1], W: box[2], H: box[3]}}
						seen.Detections = append(seen.Detections, detection{"1", 0.9, box})
					}
				case n%20 == 13:
					seen.Detections = append(seen.Detections, detection{"1", 0.3, box})
				}
				var out bytes.Buffer
				fatal.If(t, jpeg.Encode(&out, m.ToImage(), &jpeg.Options{Quality: 92}))
				fatal.If(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(p.Path)), out.Bytes(), 0o666))
				photos, list = append(photos, p), append(list, seen)
			}
		}
	}
	data := fatal.Get(json.MarshalIndent(map[string]any{"images": list, "detection_categories": map[string]string{"1": "animal", "2": "person", "3": "vehicle"},
		"info": map[string]string{"detector": "md_v5a.0.0.pt", "format_version": "1.3"}}, "", " "))(t)
	fatal.If(t, os.WriteFile(filepath.Join(dir, "md.json"), append(data, '\n'), 0o666))
	return photos
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// paste draws an emoji, whose background is white, in a box.
func paste(m, glyph *rgb.Image, b rgb.Box) {
	side := int(b.W * trapSide)
	small := glyph.Resize(side, side)
	for y := range side {
		for x := range side {
			c := small.Pix[3*(y*side+x):][:3]
			if min(c[0], c[1], c[2]) < 235 {
				copy(m.Pix[3*((y+int(b.Y*trapSide))*trapSide+x+int(b.X*trapSide)):], c)
			}
		}
	}
}

// trapLabels returns a table of the classes of photos, of the kind that --labels reads.
func trapLabels(photos []trapPhoto) string {
	text := "path,label\n"
	for _, p := range photos {
		text += fmt.Sprintf("%s,%s\n", p.Path, p.Class)
	}
	return text
}

// A validation photo that is one of a burst whose others are trained on looks like them: its nearest training photo
// is of its burst, and has its class. With events as groups none is, and what is left is what a new burst gets.
func TestEventsRemoveLeakage(t *testing.T) {
	dir := t.TempDir()
	photos := makeTraps(t, dir, []string{"c1", "c2", "c3"}, 40, map[string]string{"fox": "noto/mammal/1f98a.webp", "panda": "noto/mammal/1f43c.webp"})
	event := make(map[string]string)
	var alone, grouped []datasets.Label
	for _, p := range photos {
		event[p.Path] = p.Event
		alone = append(alone, datasets.Label{ID: p.Path, Class: p.Class})
		grouped = append(grouped, datasets.Label{ID: p.Path, Class: p.Class, Group: p.Event})
	}
	measure := func(labels []datasets.Label) (leaks, right, n int) {
		d, truth := fatal.Get2(datasets.Open(datasets.FolderName, dir, datasets.Options{Seed: 1, Layout: "{site}/{name}", Labels: labels}))(t)
		var small []*rgb.Image
		trained := make(map[string]bool)
		for i, e := range d.Examples {
			small = append(small, fatal.Get(d.Image(i))(t).Resize(24, 24))
			trained[event[e.ID]] = trained[event[e.ID]] || e.Split == datasets.Train
		}
		for i, e := range d.Examples {
			if e.Split != datasets.Val {
				continue
			}
			if n++; trained[event[e.ID]] {
				leaks++
			}
			nearest, least := -1, 0
			for k, other := range d.Examples {
				if other.Split != datasets.Train {
					continue
				}
				distance := 0
				for j, v := range small[i].Pix {
					by := int(v) - int(small[k].Pix[j])
					distance += by * by
				}
				if nearest < 0 || distance < least {
					nearest, least = k, distance
				}
			}
			if truth.Class(nearest) == truth.Class(i) {
				right++
			}
		}
		return leaks, right, n
	}
	leaks, right, n := measure(alone)
	none, honest, m := measure(grouped)
	if leaks*2 < n || none != 0 || m == 0 {
		t.Errorf("%d of %d validation photos have trained photos of their event, with groups %d of %d; want most and none", leaks, n, none, m)
	}
	if a, b := float64(right)/float64(n), float64(honest)/float64(m); a < b+0.15 {
		t.Errorf("accuracy %.2f by photos and %.2f by events; want 15 points less", a, b)
	}
}
