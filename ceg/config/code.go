package config

import (
	"cmp"

	"github.com/ledg-go/ledg/ceg/active"
)

// checkCode is an error if the code of a strategy, objective or network differs from what this program has
// registered under its name.
func (c Config) checkCode() error {
	x := c.Exploration
	for _, s := range []struct{ path, name, code string }{
		{"exploration.strategy", x.Strategy, x.StrategyCode}, {"exploration.initial", x.Initial, x.InitialCode},
	} {
		e, known := active.Lookup(s.name)
		if err := sameCode(s.path, s.name, s.code, e.Code, known, "active.Register"); err != nil {
			return err
		}
	}
	return c.CheckModelCode()
}

// CheckModelCode is an error if the code of the config's objective or network differs from what this
// program has registered under its name: the trained networks may differ.
func (c Config) CheckModelCode() error {
	g, n := c.Generalization, c.Network
	o, known := LookupObjective(g.Objective)
	if err := sameCode("generalization.objective", g.Objective, g.ObjectiveCode, o.Code, known, "objective.Register"); err != nil {
		return err
	}
	info, known := LookupNetwork(n.Name)
	return sameCode("network.name", n.Name, n.Code, info.Code, known, "nets.Register")
}

// sameCode is an error if the code of a name differs from the program's.
func sameCode(path, name, code, now string, known bool, register string) error {
	switch {
	case code == now:
		return nil
	case !known:
		return Errorf(path, "%q is not built in: the program that made the config registered it (%s), and this one has not", name, register)
	case now == "":
		return Errorf(path, "%q is built in, and the config has the code %s for it", name, code)
	}
	return Errorf(path, "the code of %q has changed: the config has %s, this program registers %s. Put the code back, or begin a new run", name, cmp.Or(code, "none"), now)
}
