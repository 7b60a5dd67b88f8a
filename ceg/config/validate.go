package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// check reports a value that the setting cannot have. A number must not be 0 explicitly where 0
// stands for a default.
func (s Setting) check(c Config, specified bool) error {
	field := s.field(&c)
	if s.Words != nil {
		text := fmt.Sprint(field.Interface())
		if !slices.Contains(s.Words(), text) && (text != "" || s.Zero == "") {
			return Errorf(s.Path, "%q, want one of %s", text, s.Valid())
		}
	}
	if s.Range == "" || s.Zero != "" && field.IsZero() && !specified {
		return nil
	}
	values := []reflect.Value{field}
	if field.Kind() == reflect.Slice {
		values = nil
		for i := range field.Len() {
			values = append(values, field.Index(i))
		}
	}
	for _, v := range values {
		if f, _ := number(v.Interface()); !within(f, s.Range) {
			return Errorf(s.Path, "%v, want %s", v, rangeWords(s.Range))
		}
	}
	return nil
}

// Check returns an error if c has an invalid value of the setting.
func (s Setting) Check(c Config) error { return s.check(c, true) }

// CheckRange returns an error, such as "want at least 1", for a number outside an interval, which
// is written as [Setting].Range.
func CheckRange(v float64, interval string) error {
	if !within(v, interval) {
		return fmt.Errorf("want %s", rangeWords(interval))
	}
	return nil
}

func within(v float64, interval string) bool {
	low, high := bounds(interval)
	return (v > low || v == low && interval[0] == '[') && (v < high || v == high && strings.HasSuffix(interval, "]"))
}

func bounds(interval string) (low, high float64) {
	a, b, _ := strings.Cut(interval[1:len(interval)-1], ", ")
	low, _ = strconv.ParseFloat(a, 64)
	high, _ = strconv.ParseFloat(b, 64)
	return low, high
}

// rangeWords describes an interval in words.
func rangeWords(interval string) string {
	low, high := bounds(interval)
	plain := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	words := "at least " + plain(low)
	if interval[0] == '(' {
		words = "above " + plain(low)
	}
	switch {
	case math.IsInf(high, 1):
		return words
	case strings.HasSuffix(interval, "]"):
		return words + " and at most " + plain(high)
	}
	return words + " and below " + plain(high)
}

// Validate returns an error for the first setting that is invalid or contradicts others. Run
// checks settings against the data.
func (c Config) Validate() error {
	if c.Format != Format {
		return fmt.Errorf("config format %d, want %d", c.Format, Format)
	}
	if err := c.checkCode(); err != nil {
		return err
	}
	info, _ := datasets.Lookup(c.Data.Dataset)
	for _, s := range table {
		if s.Path == "data.image_size" && info.Vectors && c.Data.ImageSize == 0 {
			continue
		}
		if err := s.check(c, false); err != nil {
			return err
		}
	}
	s, x := c.Schedule, c.Exploration
	switch last := len(s.QueryAfter) - 1; {
	case c.Method == "":
		return Errorf("method", "no name")
	case c.Data.Target == "":
		return Errorf("data.target", "missing: the domain that is held out, or %s", NoTarget)
	case !slices.IsSorted(s.QueryAfter) || len(slices.Compact(slices.Clone(s.QueryAfter))) != len(s.QueryAfter):
		return Errorf("schedule.query_after", "%v, want increasing epochs", s.QueryAfter)
	case last >= 0 && s.QueryAfter[last] > s.Epochs-2:
		return Errorf("schedule.query_after", "%v, want 0 to %d: labels asked after the last epoch are not trained on", s.QueryAfter, s.Epochs-2)
	case x.InitialShare < 1 && last < 0:
		return conflict("exploration.initial_share", x.InitialShare, "schedule.query_after", s.QueryAfter, "there are no query epochs to spend the rest of the budget in")
	}
	if _, err := active.ParseBudget(x.Budget); err != nil {
		return &Error{"exploration.budget", err}
	}
	if err := s.checkShares(x.InitialShare); err != nil {
		return err
	}
	if err := c.checkData(info); err != nil {
		return err
	}
	return c.checkObjective(info)
}

// checkShares reports shares of the budget that do not match the query epochs, or do not sum to
// the budget.
func (s Schedule) checkShares(initial float64) error {
	if len(s.QueryShares) == 0 {
		return nil
	}
	if len(s.QueryShares) != len(s.QueryAfter) {
		return conflict("schedule.query_shares", s.QueryShares, "schedule.query_after", s.QueryAfter, "there is a share for each query epoch")
	}
	sum := initial
	for _, share := range s.QueryShares {
		sum += share
	}
	if math.Abs(sum-1) > 1e-6 {
		return conflict("exploration.initial_share", initial, "schedule.query_shares", s.QueryShares, fmt.Sprintf("they sum to %v, want 1", sum))
	}
	return nil
}

// checkData reports settings of images for feature vectors, the other way round, and a
// seed of a pool that is not drawn.
func (c Config) checkData(info datasets.Info) error {
	n, _ := LookupNetwork(c.Network.Name)
	name := c.Data.Dataset
	if err := c.checkImported(); err != nil {
		return err
	}
	if err := c.Network.Freeze.check(); err != nil {
		return err
	}
	if _, err := datasets.ParseGroup(c.Data.Group); err != nil {
		return &Error{"data.group", err}
	}
	if err := datasets.CheckPatterns(c.Data.Exclude); err != nil {
		return &Error{"data.exclude", err}
	}
	if err := datasets.CheckLayout(c.Data.Layout, c.Data.Site); err != nil {
		return &Error{"data.layout", err}
	}
	switch {
	case c.Data.Layout+c.Data.Site != "" && (info.Vectors || !info.Yours):
		return conflict("data.layout", c.Data.Layout+c.Data.Site, "data.dataset", name, "only folders of your own images have a layout")
	case c.Data.Exclude != nil && (info.Vectors || !info.Yours):
		return conflict("data.exclude", c.Data.Exclude, "data.dataset", name, "only files of your own images are left out")
	case c.Data.Decode != rgb.Stored && info.Vectors:
		return conflict("data.decode", c.Data.Decode, "data.dataset", name, "it has feature vectors, whose file says how their images were decoded")
	case c.Data.Decode != rgb.Stored && !info.Yours:
		return conflict("data.decode", c.Data.Decode, "data.dataset", name, "published data sets are decoded as stored")
	case c.Data.PoolSeed != 0 && c.Data.PoolShare == 0:
		return conflict("data.pool_seed", c.Data.PoolSeed, "data.pool_share", "all", "it draws nothing")
	case info.Vectors && c.Data.ImageSize != 0:
		return conflict("data.image_size", c.Data.ImageSize, "data.dataset", name, "it has feature vectors")
	case info.Vectors && c.Network.Weights != nil:
		return conflict("network.weights", c.Network.Weights.Name, "data.dataset", name, "its features come from a network already: the classifier on them starts at random")
	case info.Vectors && c.Network.Freeze != "":
		return conflict("network.freeze", c.Network.Freeze, "data.dataset", name, "its features come from a network that does not learn already")
	case info.Vectors && c.Data.Views > 0:
		return conflict("data.views", c.Data.Views, "data.dataset", name, "its views are computed already")
	case c.Data.Views > 0 && (c.Network.Freeze == "" || c.Network.Freeze == FreezeNorm):
		freeze := cmp.Or(c.Network.Freeze, "none")
		return conflict("data.views", c.Data.Views, "network.freeze", freeze, "no part of the network at its beginning stays as it is: freeze head, or a number of its first stages")
	case info.Vectors && c.Network.HeadEpochs > 0:
		return conflict("network.head_epochs", c.Network.HeadEpochs, "data.dataset", name, "its features come from a network that does not learn already")
	case c.Network.HeadEpochs > 0 && c.Network.Freeze == FreezeBackbone:
		return conflict("network.head_epochs", c.Network.HeadEpochs, "network.freeze", c.Network.Freeze, "then the heads alone learn in all epochs")
	case c.Network.HeadEpochs > c.Schedule.Epochs:
		return conflict("network.head_epochs", c.Network.HeadEpochs, "schedule.epochs", c.Schedule.Epochs, "there are fewer epochs")
	case !info.Vectors && c.Data.Normalise != "":
		return conflict("data.normalise", c.Data.Normalise, "data.dataset", name, "it has images, not feature vectors")
	case info.Vectors && !n.Vectors:
		return conflict("network.name", n.Name, "data.dataset", name, "it has feature vectors: want one of "+strings.Join(NetworkNames(true), ", "))
	case !info.Vectors && n.Vectors:
		return conflict("network.name", n.Name, "data.dataset", name, "it has images: want one of "+strings.Join(NetworkNames(false), ", "))
	}
	return nil
}

// checkImported reports a network from an ONNX file without the file, the other way round, and
// settings that are for such a network alone, or not for it.
func (c Config) checkImported() error {
	n := c.Network
	if info, _ := LookupNetwork(n.Name); info.Whole && n.Precision == BFloat16 {
		return conflict("network.precision", n.Precision, "network.name", n.Name, "it computes in float32")
	}
	if n.Name != Imported {
		if n.Weights != nil && isFile(n.Weights.Name) {
			return conflict("network.name", n.Name, "network.weights", n.Weights.Name, "a file .onnx is a network of its own: give it as the network")
		}
		for path, v := range map[string]any{"network.output": n.Output, "network.tokens": n.Tokens, "network.pixels": string(n.Pixels), "network.lora_rank": n.LoRARank, "network.lora_alpha": n.LoRAAlpha} {
			if !reflect.ValueOf(v).IsZero() {
				return conflict(path, v, "network.name", n.Name, "it is for networks from files .onnx")
			}
		}
		return nil
	}
	if n.Weights == nil || !isFile(n.Weights.Name) {
		return Errorf("network.name", "%s is a network from a file: name the file .onnx instead", Imported)
	}
	if n.LoRARank > 0 && n.Freeze != "" {
		return conflict("network.lora_rank", n.LoRARank, "network.freeze", n.Freeze, "with adapters all else of the network stays as it is")
	}
	if n.LoRAAlpha > 0 && n.LoRARank == 0 {
		return conflict("network.lora_alpha", n.LoRAAlpha, "network.lora_rank", n.LoRARank, "there are no adapters to scale")
	}
	return nil
}

// checkObjective reports settings that the objective has no use for, or needs.
func (c Config) checkObjective(info datasets.Info) error {
	g := c.Generalization
	const path = "generalization.objective"
	against := func(other string, v any, why string) error { return conflict(other, v, path, g.Objective, why) }
	o, _ := LookupObjective(g.Objective)
	switch {
	case c.Protocol == OriginalProtocol && o.Name == CEG:
		return against("protocol", c.Protocol, "what the published code of ceg does is the preset "+string(Authors))
	case c.Protocol == OriginalProtocol && o.Original == nil:
		return against("protocol", c.Protocol, "no settings are published for it on these data sets")
	case o.Name == FixMatch && g.Consistency == Nothing:
		return against("generalization.consistency", g.Consistency, "its consistency is over "+string(OnUnlabelled)+" or "+string(Both))
	case o.NeedsStyle && g.StyleWeights == nil:
		return Errorf("generalization.style_weights", "%s needs %s: give their folder. Without them there are stylematch-amplitude and stylematch-rgb, which are other methods", o.Name, StyleFiles)
	case !o.NeedsStyle && g.StyleWeights != nil:
		return against("generalization.style_weights", g.StyleWeights.Name, "it has no use for them")
	case g.Threshold != "" && (!o.Confidence || g.Consistency == Nothing && o.Reduced):
		return against("generalization.threshold", g.Threshold, "it has no threshold of confidence")
	case c.Schedule.Batches == EqualImages && o.Name != ERM && o.Name != FixMatch && !o.Fits:
		return against("schedule.batches", string(EqualImages), "it needs as many images of every domain")
	case c.Schedule.Batches == EqualImages && g.BatchNorm == PerDomain:
		return conflict("schedule.batches", string(EqualImages), "generalization.batch_norm", g.BatchNorm, "batches are not ordered by domain")
	case c.Network.HeadStart != "" && (!o.Reduced || o.Fits):
		return against("network.head_start", string(c.Network.HeadStart), "it does not train a class head on these features by SGD alone")
	case c.Network.HeadStart != "" && c.Network.Name != Linear:
		return conflict("network.head_start", string(c.Network.HeadStart), "network.name", c.Network.Name, "it fits a linear head on features as they are")
	case c.Network.HeadStart != "" && g.Average != "":
		return conflict("network.head_start", string(c.Network.HeadStart), "generalization.average", g.Average, "the average starts from a random head")
	case g.RSCShare != 0 && o.Name != RSCDomainBed:
		return against("generalization.rsc_share", g.RSCShare, "it is "+RSCDomainBed+"'s alone")
	case g.LogitAdjustment != 0 && o.Name != ERM && !o.Fits:
		return against("generalization.logit_adjustment", g.LogitAdjustment, "it is for "+ERM+" and for heads that are fitted")
	case g.Average != "" && o.OwnHeads:
		return against("generalization.average", g.Average, "it predicts by heads of its own, which are not averaged")
	case o.Pixels && info.Vectors:
		return against("data.dataset", c.Data.Dataset, "it works on the pixels of images, and the examples are feature vectors")
	case o.Pixels && c.Data.Views > 0:
		return against("data.views", c.Data.Views, "it works on the pixels of images, and these are what a part of the network has made of them")
	case !o.Fits:
		return nil
	case !info.Vectors:
		return against("data.dataset", c.Data.Dataset, "it fits a head on features, and the examples are images; ledg embed makes features of them")
	case c.Network.Name != Linear:
		return against("network.name", c.Network.Name, "it fits a linear head on features as they are")
	case o.Names && c.Data.Normalise != UnitFeatures:
		return against("data.normalise", cmp.Or(string(c.Data.Normalise), "none"), "it compares directions: give --normalise unit")
	case g.DomainLoss:
		return against("exploration.strategy", c.Exploration.Strategy, "it has no domain head, which the strategy asks")
	case g.Average != "":
		return against("generalization.average", g.Average, "it fits its head at once: there are no steps to average over")
	}
	return nil
}

// StyleFiles describes the weights of AdaIN that stylematch needs.
const StyleFiles = "the weights of pytorch-AdaIN, vgg_normalised.pth and decoder.pth (in the releases of github.com/naoto0804/pytorch-AdaIN)"
