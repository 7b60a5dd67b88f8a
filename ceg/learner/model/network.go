package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/result"
)

// NetworkIn returns the path of a run's ONNX network file, or "" for built-in networks.
func NetworkIn(dir string, c config.Config) string {
	if c.Network.Name != config.Imported || c.Network.Weights == nil {
		return ""
	}
	return filepath.Join(dir, result.NetworkDir, c.Network.Weights.File())
}

// Backbone returns a config's network, for feature vectors of length vector or, if that is 0,
// for images. file is the path of an ONNX network, whose digest must match the config's.
func Backbone(c config.Config, vector int, file string) (nets.Backbone, error) {
	b, err := whole(c, vector, file)
	if err != nil {
		return b, err
	}
	if b, err = nets.Freeze(b, c.Network.Freeze, c.Data.ImageSize); err != nil {
		return b, &config.Error{Path: "network.freeze", Err: err}
	}
	if rank := c.Network.LoRARank; rank > 0 {
		if b, err = (imported.LoRA{Rank: rank, Alpha: c.Network.LoRAAlpha}).Adapt(b); err != nil {
			return b, &config.Error{Path: "network.lora_rank", Err: err}
		}
	}
	return b, nil
}

// whole is a config's network, trained end to end.
func whole(c config.Config, vector int, file string) (nets.Backbone, error) {
	if c.Network.Name != config.Imported {
		return nets.New(c.Network, vector)
	}
	n := c.Network
	t, err := openTrainable(context.Background(), file, n.Output, n.Tokens, n.Weights.Digest, c.Data.ImageSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nets.Backbone{}, fmt.Errorf("%s is missing, the network %s of the run: put it back", file, n.Weights)
	}
	if err != nil {
		return nets.Backbone{}, err
	}
	name := strings.TrimPrefix(n.Weights.Name, config.HubPrefix)
	if !n.Weights.OnHub() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return nets.OfGraph(fmt.Sprintf("%s-%.12s", name, t.Digest), t, pixelsOf(n.Pixels)), nil
}

// pixelsOf are the numbers of a way to normalise images.
func pixelsOf(p config.Pixels) nets.Pixels {
	if p == config.UnitPixels {
		return nets.Pixels{Std: [3]float64{1, 1, 1}}
	}
	names := map[config.Pixels]string{config.CLIPPixels: "clip", config.HalfPixels: "siglip", config.RawPixels: preprocess.Raw}
	preset, _ := preprocess.Of(cmp.Or(names[p], "imagenet"))
	return nets.Pixels{Mean: preset.Mean, Std: preset.Std}
}

// openNetwork opens the ONNX file of a config's network, which is fetched if it is on the hub, as
// the weights that it starts from.
func openNetwork(ctx context.Context, c config.Config, path string, say func(string)) (*pretrained.Source, error) {
	n := c.Network
	w := config.Weights{Name: filepath.Base(path), Data: "unknown data"}
	if strings.HasPrefix(path, config.HubPrefix) {
		f, err := FetchNetwork(ctx, path, "", false, say)
		if err != nil {
			return nil, err
		}
		path, w.Name, w.Revision, w.Licence = f.Path, config.HubPrefix+f.Repository, f.Commit, f.Licence
	}
	if err := takes(path, c); err != nil {
		return nil, err
	}
	t, err := openTrainable(ctx, path, n.Output, n.Tokens, "", c.Data.ImageSize)
	if err != nil {
		return nil, err
	}
	values, err := t.Values()
	if err != nil {
		return nil, err
	}
	params, _, err := t.Params(c.Data.ImageSize)
	if err != nil {
		return nil, err
	}
	w.Digest = t.Digest
	f := &weights.File{Name: filepath.Base(path), Digest: t.Digest, Notes: t.Notes()}
	for _, p := range params {
		if err := weights.CheckFinite(p.Name, values[p.Name]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		f.Tensors = append(f.Tensors, weights.FromFloat32(p.Name, p.Shape, values[p.Name]))
	}
	return &pretrained.Source{Weights: w, Path: path, File: f}, nil
}

// takes returns an error, with the flags to give, if a network takes images of another size or
// normalisation, by its file or a preprocessor_config.json beside it, than a config has.
func takes(path string, c config.Config) error {
	n, err := imported.Open(path, c.Network.Output, "")
	if err != nil {
		return err
	}
	var as, give []string
	if n.Size > 0 && n.Size != c.Data.ImageSize {
		as, give = append(as, fmt.Sprintf("of %d pixels a side, not %d", n.Size, c.Data.ImageSize)), append(give, "--image-size", strconv.Itoa(n.Size))
	}
	want, have := pixelsOf(config.RawPixels), pixelsOf(c.Network.Pixels)
	by := "as bytes, with their preprocessing inside"
	if !n.Bytes() {
		from, _, r, err := preprocess.Read(path)
		switch {
		case err != nil:
			return err
		case from == "":
			want = have
		default:
			want, by = nets.Pixels{Mean: r.Mean, Std: r.Std}, fmt.Sprintf("with means %v and deviations %v (%s)", r.Mean, r.Std, from)
		}
		if r.BGR {
			return fmt.Errorf("%s: images of blue, green and red are not trained on", from)
		}
	}
	if want != have {
		all := []config.Pixels{config.ImageNetPixels, config.CLIPPixels, config.HalfPixels, config.UnitPixels, config.RawPixels}
		i := slices.IndexFunc(all, func(p config.Pixels) bool { return pixelsOf(p) == want })
		if i < 0 {
			return fmt.Errorf("%s takes images %s, and network.pixels has no such normalisation", path, by)
		}
		as, give = append(as, by), append(give, "--set", "network.pixels="+cmp.Or(string(all[i]), "imagenet"))
	}
	if len(give) > 0 {
		return fmt.Errorf("%s takes images %s: add %s", path, strings.Join(as, ", "), strings.Join(give, " "))
	}
	return nil
}
