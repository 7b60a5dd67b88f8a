package ceg

import "github.com/ledg-go/ledg/datasets"

// OpenData opens the data set of the run in o.Dir, which may have only begun: from
// o.Root, or else from where the run last found its images. The Truth is for whoever
// evaluates.
func OpenData(o Options) (Config, *datasets.Dataset, datasets.Truth, error) {
	c, err := readConfig(o.Dir)
	if err != nil {
		return c, nil, datasets.Truth{}, err
	}
	d, truth, err := c.Data.open(o)
	return c, d, truth, err
}
