package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/predict/poolfile"
)

// classesBounds is the interval of numbers of classes.
var classesBounds = fmt.Sprintf("[2, %d]", poolfile.MaxClasses)

// bounded is a numeric flag that has to be in an interval.
type bounded struct {
	pflag.Value
	interval string
}

func (b bounded) Set(text string) error {
	if err := b.Value.Set(text); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(b.Value.String(), 64)
	if err != nil {
		return err
	}
	return config.CheckRange(v, b.interval)
}

// bound limits numeric flags to an interval, such as "[1, 1000]". Defaults may be outside.
func bound(flags *pflag.FlagSet, interval string, names ...string) {
	for _, name := range names {
		f := flags.Lookup(name)
		f.Value = bounded{f.Value, interval}
	}
}
