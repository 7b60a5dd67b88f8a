package datasets

import "github.com/ledg-go/ledg/datasets/clothes"

// clothesPerson names the person of a photo of many people's site. A home is one person, so a group
// would leave it without validation images.
const clothesPerson = `^` + clothes.Others + `/[^/]+/(\d+)_`

// Clothes returns the embedded data set of photographs of clothes by 15 sites, the domains (see package
// clothes). opts.Seed draws the split: no person of the site of many people is in both parts.
func Clothes(opts Options) (*Dataset, Truth, error) {
	files, err := clothes.Open()
	if err != nil {
		return nil, Truth{}, err
	}
	var paths []string
	for _, f := range files.File {
		paths = append(paths, f.Name)
	}
	return embedded(&Dataset{Name: "clothes", Domains: clothes.Domains(), Classes: clothes.Classes()}, files, paths, clothesPerson, opts)
}
