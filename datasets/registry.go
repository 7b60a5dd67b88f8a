package datasets

import (
	"os"
	"slices"

	"github.com/ledg-go/ledg/datasets/clothes"
	"github.com/ledg-go/ledg/datasets/emoji"
	"github.com/ledg-go/ledg/datasets/glyphs"
)

// Info describes a data set. A new data set is one more of these in All.
type Info struct {
	// Name is the argument of Open, Title the display name, About a one-line description.
	Name, Title, About string
	// Files is true if it is read from a folder. Yours is true for the user's own images, which
	// the name does not identify: only the folder does.
	Files, Yours bool
	// Vectors is true if its examples are feature vectors, read from a file.
	Vectors bool
	// InPaper is true if Yuan et al. 2022 report results on it.
	InPaper bool
	// Domains and Classes are the names, in index order; nil if they depend on the images.
	Domains, Classes []string
	// ImageSize is the default side of training images in pixels; 0 for Vectors.
	ImageSize int
	// Recipe holds CEG's default settings for it.
	Recipe Recipe

	// open receives the absolute path of an existing folder, or of a file for Vectors, or "" if
	// Files is false.
	open func(root string, opts Options) (*Dataset, Truth, error)
}

// Recipe holds the settings of CEG that depend on the data set. For data sets in the paper they
// are the values of Yuan et al. 2022 and their published configs/trainers/ADG/*.yaml, except Rate
// and Width, which are our own for a small network from scratch.
type Recipe struct {
	// Epochs is E, the total of both phases.
	Epochs int
	// FirstQuery is the published code's first query epoch, QueryEvery the interval between
	// query epochs.
	FirstQuery, QueryEvery int
	// Delta weighs L_eg. Threshold is T.
	Delta, Threshold float64
	// GammaPaper are the paper's gamma1 and gamma2, GammaCode the published code's.
	// The map of package ceg: (32).
	GammaPaper, GammaCode [2]float64
	// Rate is the learning rate of all parts, Width the number of channels of the network.
	Rate  float64
	Width int
	// ManyClasses selects, for methods whose published code has settings for PACS and for
	// Office-Home, the latter.
	ManyClasses bool
}

// pacsRecipe is the recipe of PACS, and of data for which the method was not tuned.
var pacsRecipe = Recipe{
	Epochs: 60, FirstQuery: 30, QueryEvery: 5, Delta: 0.3, Threshold: 0.5,
	GammaPaper: [2]float64{3, 1}, GammaCode: [2]float64{3, 1}, Rate: 0.02, Width: 64,
}

// featuresRecipe is for a linear layer, or a small network, on standardised features.
var featuresRecipe = Recipe{
	Epochs: 60, FirstQuery: 30, QueryEvery: 5, Delta: 0.3, Threshold: 0.5,
	GammaPaper: [2]float64{3, 1}, GammaCode: [2]float64{3, 1}, Rate: 0.003, Width: 512,
}

// registry holds the data sets in the order in which they are listed.
var registry = []Info{
	{
		Name: "glyphs", Title: "glyphs", About: "digits in four styles, drawn by ledg itself",
		Domains: glyphs.Domains(), Classes: glyphs.Classes(), ImageSize: glyphs.Size,
		// The rate was chosen with cross-entropy alone, from 0.01, 0.02 and 0.04; the
		// last does not learn.
		Recipe: Recipe{
			Epochs: 20, FirstQuery: 10, QueryEvery: 2, Delta: 0.3, Threshold: 0.5,
			GammaPaper: [2]float64{3, 1}, GammaCode: [2]float64{3, 1}, Rate: 0.02, Width: 32,
		},
		open: func(string, Options) (*Dataset, Truth, error) { return Glyphs(glyphsPerClass) },
	},
	{
		Name: "pacs", Title: "PACS", About: "PACS: 7 classes as photos, art paintings, cartoons and sketches",
		Files: true, InPaper: true,
		Domains: pacsDomains, Classes: pacsClasses, ImageSize: 64,
		Recipe: pacsRecipe,
		open:   openPACS,
	},
	{
		Name: "officehome", Title: "Office-Home", About: "Office-Home: 65 classes as art, clip art, product and real-world pictures",
		Files: true, InPaper: true,
		Domains: officeHomeDomains, Classes: officeHomeClasses, ImageSize: 64,
		Recipe: Recipe{
			Epochs: 30, FirstQuery: 15, QueryEvery: 5, Delta: 0.1, Threshold: 0.7,
			GammaPaper: [2]float64{0.5, 0.5}, GammaCode: [2]float64{1. / 3, 1. / 3}, Rate: 0.02, Width: 64,
			ManyClasses: true,
		},
		open: func(root string, opts Options) (*Dataset, Truth, error) {
			return OfficeHome(os.DirFS(root), opts)
		},
	},
	{
		Name: "emoji", Title: "emoji", About: "784 emoji of 16 classes, each drawn by four artists",
		Domains: emoji.Domains(), Classes: emoji.Classes(), ImageSize: emoji.Size,
		Recipe: pacsRecipe,
		open:   func(_ string, opts Options) (*Dataset, Truth, error) { return Emoji(opts) },
	},
	{
		Name: "clothes", Title: "clothes", About: "3,023 photos of clothes of 15 classes, from 15 sites",
		Domains: clothes.Domains(), Classes: clothes.Classes(), ImageSize: clothes.Size,
		Recipe: pacsRecipe,
		open:   func(_ string, opts Options) (*Dataset, Truth, error) { return Clothes(opts) },
	},
	{
		Name: FolderName, Title: FolderName, About: "your own images, as ROOT/site/class/image, or ROOT/site/image without labels",
		Files: true, Yours: true, ImageSize: 64,
		Recipe: pacsRecipe,
		open:   openFolder,
	},
	{
		Name: FeaturesFile, Title: "features", About: "feature vectors in a .npz, .safetensors or .parquet file, as ledg embed writes them",
		Files: true, Yours: true, Vectors: true,
		Recipe: featuresRecipe,
		open:   openFeatures,
	},
}

// All lists the data sets.
func All() []Info {
	list := slices.Clone(registry)
	for i := range list {
		list[i].Domains, list[i].Classes = slices.Clone(list[i].Domains), slices.Clone(list[i].Classes)
	}
	return list
}

// Lookup returns the data set called name; ok is false if there is none.
func Lookup(name string) (info Info, ok bool) {
	i := slices.IndexFunc(registry, func(i Info) bool { return i.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return All()[i], true
}

// Names lists the names of data sets.
func Names() []string {
	var names []string
	for _, i := range registry {
		names = append(names, i.Name)
	}
	return names
}

// Drawn is the name of the data set that ledg renders itself.
const Drawn = "glyphs"
