package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Band selects what the band around a curve shows. Bands of accuracies end at 0 and 100%.
type Band string

const (
	// CI is the 95% Student-t interval of the mean; so is the empty Band.
	CI Band = "ci"
	// SD is the mean plus and minus the standard deviation over runs, SE plus and minus the standard error
	// of the mean.
	SD Band = "sd"
	SE Band = "se"
	// None draws the mean alone.
	None Band = "none"
)

// Bands lists the bands.
func Bands() []Band { return []Band{CI, SD, SE, None} }

// ParseBand returns the band with a name; the empty name is CI.
func ParseBand(name string) (Band, error) {
	if name == "" {
		return CI, nil
	}
	if !slices.Contains(Bands(), Band(name)) {
		var names []string
		for _, b := range Bands() {
			names = append(names, string(b))
		}
		return "", fmt.Errorf("band %q, want one of %s", name, strings.Join(names, ", "))
	}
	return Band(name), nil
}

// interval returns the mean of values and the bounds of its band.
func (b Band) interval(values []float64) (Interval, error) {
	iv, err := StudentT(values, confidence)
	if err != nil || b == CI || b == "" || iv.N == 1 {
		return iv, err
	}
	half := stat.StdDev(values, nil)
	switch b {
	case SE:
		half /= math.Sqrt(float64(iv.N))
	case None:
		half = 0
	}
	iv.Low, iv.High = iv.Mean-half, iv.Mean+half
	return iv, nil
}

// words describes the band in a figure's note.
func (b Band) words() string {
	switch b {
	case SD:
		return "standard deviation over runs"
	case SE:
		return "standard error of the mean"
	}
	return "95% Student-t interval"
}
