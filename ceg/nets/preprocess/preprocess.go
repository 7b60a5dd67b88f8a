// Package preprocess says how networks from files want their images, which such a file does not
// contain: the [Presets] of their authors, and Hugging Face's preprocessor_config.json ([Read]).
package preprocess

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Preset is the image preprocessing of a family of networks.
type Preset struct {
	Name string
	// Size is the side of the network's images, to which Reading.Short refers.
	Size int
	datasets.Reading
	// Of names the family.
	Of string
}

var (
	imageNetMean, imageNetStd = [3]float64{0.485, 0.456, 0.406}, [3]float64{0.229, 0.224, 0.225}
	clipMean, clipStd         = [3]float64{0.48145466, 0.4578275, 0.40821073}, [3]float64{0.26862954, 0.26130258, 0.27577711}
	halves                    = [3]float64{0.5, 0.5, 0.5}
	byteStd                   = [3]float64{1. / 255, 1. / 255, 1. / 255}
)

// Presets are the preprocessings of the networks' authors, as in torchvision, timm and the
// preprocessor_config.json of their repositories on the Hugging Face hub.
var Presets = []Preset{
	{"imagenet", 224, datasets.Reading{Short: 256, Filter: rgb.Bilinear, Mean: imageNetMean, Std: imageNetStd}, "torchvision's networks: short side 256, crop 224, bilinear"},
	{"timm", 224, datasets.Reading{Short: 248, Filter: rgb.Bicubic, Mean: imageNetMean, Std: imageNetStd}, "DeiT and many of timm's: short side 248, crop 224, bicubic"},
	{"clip", 224, datasets.Reading{Short: 224, Filter: rgb.Bicubic, Mean: clipMean, Std: clipStd}, "CLIP: short side 224, crop, bicubic"},
	{"dinov2", 224, datasets.Reading{Short: 256, Filter: rgb.Bicubic, Mean: imageNetMean, Std: imageNetStd}, "DINOv2: short side 256, crop 224, bicubic"},
	{"dinov3", 224, datasets.Reading{Filter: rgb.Bilinear, Mean: imageNetMean, Std: imageNetStd}, "DINOv3: 224 x 224, bilinear"},
	{"siglip", 224, datasets.Reading{Filter: rgb.Bicubic, Mean: halves, Std: halves}, "SigLIP: 224 x 224, bicubic, values -1 to 1"},
	{"vit", 224, datasets.Reading{Filter: rgb.Bilinear, Mean: halves, Std: halves}, "Google's ViT: 224 x 224, bilinear, values -1 to 1"},
	{Raw, 224, datasets.Reading{Filter: rgb.Bilinear, Std: byteStd}, "preprocessing inside: values 0 to 255 (bytes: the default)"},
}

// Raw is the preset of networks whose preprocessing is inside: of images of one size, with values
// from 0 to 255.
const Raw = "raw"

// Of returns the preset of a name.
func Of(name string) (p Preset, ok bool) {
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return Presets[i], true
}

// At returns the preset for images of another side; 0 means its own.
func (p Preset) At(size int) (int, datasets.Reading) {
	size = cmp.Or(size, p.Size)
	r := p.Reading
	r.Short = int(math.Round(float64(r.Short*size) / float64(p.Size)))
	return size, r
}

// side is a size in a preprocessor_config.json: a number, or an object.
type side struct {
	Height, Width, Shortest int
	// number is true for a single number, which leaves open which side it sets.
	number bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *side) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &s.Shortest) == nil {
		s.number = true
		return nil
	}
	var v struct {
		Height   int `json:"height"`
		Width    int `json:"width"`
		Shortest int `json:"shortest_edge"`
	}
	err := json.Unmarshal(b, &v)
	s.Height, s.Width, s.Shortest = v.Height, v.Width, v.Shortest
	return err
}

// preprocessor is a preprocessor_config.json of Hugging Face's transformers, as far as it concerns
// one image. Missing values have the defaults of its image processors.
type preprocessor struct {
	Type      string    `json:"image_processor_type"`
	Feature   string    `json:"feature_extractor_type"`
	Resize    *bool     `json:"do_resize"`
	Size      *side     `json:"size"`
	Crop      *bool     `json:"do_center_crop"`
	CropSize  *side     `json:"crop_size"`
	CropShare float64   `json:"crop_pct"`
	Resample  *int      `json:"resample"`
	Rescale   *bool     `json:"do_rescale"`
	Factor    *float64  `json:"rescale_factor"`
	Normalize *bool     `json:"do_normalize"`
	Mean      []float64 `json:"image_mean"`
	Std       []float64 `json:"image_std"`
	Flip      bool      `json:"do_flip_channel_order"`
}

// openCLIP is an open_clip_config.json, as far as it concerns images. Missing values have open_clip's defaults.
type openCLIP struct {
	Model struct {
		Vision struct {
			Size int `json:"image_size"`
		} `json:"vision_cfg"`
	} `json:"model_cfg"`
	Images struct {
		Mean          []float64 `json:"mean"`
		Std           []float64 `json:"std"`
		Interpolation string    `json:"interpolation"`
		Mode          string    `json:"resize_mode"`
	} `json:"preprocess_cfg"`
}

// like converts it to a preprocessor.
func (o openCLIP) like() (*preprocessor, error) {
	size, v := o.Model.Vision.Size, o.Images
	short := &side{Shortest: size}
	p, known := map[string]preprocessor{"shortest": {Size: short, CropSize: short}, "squash": {Size: &side{Height: size, Width: size}}}[v.Mode]
	resample, ok := map[string]int{"bicubic": 3, "bilinear": 2}[v.Interpolation]
	if !known || !ok || size <= 0 {
		return nil, fmt.Errorf("image_size %d, interpolation %q and resize_mode %q: want a size, bicubic or bilinear, and shortest or squash", size, v.Interpolation, v.Mode)
	}
	p.Resample, p.Mean, p.Std = &resample, v.Mean, v.Std
	return &p, nil
}

// File and OpenCLIPFile are the files of [Read].
const File, OpenCLIPFile = "preprocessor_config.json", "open_clip_config.json"

// Read reads preprocessor_config.json, or else open_clip_config.json, in the folder of a network, or in its parent
// if the folder is called onnx or visual; path is empty if there is none. size is the side of the
// network's images. Unsupported content is an error.
func Read(network string) (path string, size int, r datasets.Reading, err error) {
	dir := filepath.Dir(network)
	above := dir
	if abs, err := filepath.Abs(dir); err == nil && (filepath.Base(abs) == "onnx" || filepath.Base(abs) == "visual") {
		above = filepath.Dir(abs)
	}
	for _, path := range []string{filepath.Join(dir, File), filepath.Join(above, File), filepath.Join(dir, OpenCLIPFile), filepath.Join(above, OpenCLIPFile)} {
		b, err := regular.Read(path, 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", 0, r, err
		}
		p, o := &preprocessor{}, openCLIP{}
		o.Images.Interpolation, o.Images.Mode, o.Images.Mean, o.Images.Std = "bicubic", "shortest", slices.Clone(clipMean[:]), slices.Clone(clipStd[:])
		if filepath.Base(path) == File {
			err = json.Unmarshal(b, p)
		} else if err = json.Unmarshal(b, &o); err == nil {
			p, err = o.like()
		}
		if err != nil {
			return "", 0, r, fmt.Errorf("%s: %w", path, err)
		}
		if size, r, err = p.reading(); err != nil {
			return "", 0, r, fmt.Errorf("%s: %w", path, err)
		}
		return path, size, r, nil
	}
	return "", 0, r, nil
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// reading converts it to a datasets.Reading.
func (p *preprocessor) reading() (size int, r datasets.Reading, err error) {
	if p.Size == nil || !or(p.Resize, true) {
		return 0, r, errors.New("it does not say which size images are scaled to")
	}
	s, crop := *p.Size, side{}
	if p.CropSize != nil && or(p.Crop, true) {
		if crop = *p.CropSize; crop.Height == 0 {
			crop.Height, crop.Width = crop.Shortest, crop.Shortest
		}
	}
	if s.Height != s.Width || crop.Height != crop.Width {
		return 0, r, fmt.Errorf("images of %d x %d pixels are not supported, only squares", max(s.Height, crop.Height), max(s.Width, crop.Width))
	}
	if p.CropShare == 0 && strings.HasPrefix(p.Type+p.Feature, "ConvNext") {
		p.CropShare = 0.875
	}
	switch {
	case p.CropShare > 0 && s.Shortest > 0: // ConvNeXT's
		if size = s.Shortest; size < 384 {
			r.Short = int(float64(size) / p.CropShare)
		}
	case s.Shortest > 0 && crop.Height > 0:
		size, r.Short = crop.Height, s.Shortest
	case s.Shortest > 0 && s.number: // sets both sides
		size = s.Shortest
	case s.Shortest > 0:
		return 0, r, errors.New("resizing the short side without a crop is not supported: the images would not be square")
	case crop.Height > 0 && crop.Height != s.Height:
		return 0, r, errors.New("a crop of an image that was scaled without its aspect ratio is not supported")
	default:
		size = s.Height
	}
	switch n := or(p.Resample, 2); n {
	case 1:
		r.Filter = rgb.Lanczos
	case 2:
		r.Filter = rgb.Bilinear
	case 3:
		r.Filter = rgb.Bicubic
	default:
		return 0, r, fmt.Errorf("resample %d is not supported: want 1 (Lanczos), 2 (bilinear) or 3 (bicubic)", n)
	}
	r.Std, r.BGR = [3]float64{1, 1, 1}, p.Flip
	if or(p.Normalize, true) {
		if len(p.Mean) != 3 || len(p.Std) != 3 {
			return 0, r, errors.New("image_mean and image_std do not have three numbers each")
		}
		r.Mean, r.Std = [3]float64(p.Mean), [3]float64(p.Std)
	}
	factor := 1.0
	if or(p.Rescale, true) {
		factor = or(p.Factor, 1./255)
	}
	for i := range 3 { // for pixels in [0, 1]
		r.Mean[i] /= 255 * factor
		r.Std[i] /= 255 * factor
	}
	return size, r, r.Check(size)
}
