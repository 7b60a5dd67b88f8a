// Package config defines the settings of a run, without linking an engine. [Resolve] turns a
// short [Spec] (data set, target domain, method, preset, single settings) into a [Config] in
// which every setting has a value:
//
//	c, err := config.Resolve(config.Spec{Target: "photo", Method: "ceg", Preset: config.Authors,
//		Set: map[string]any{"schedule.epochs": 12, "gamma1": 2}})
//
// A Config is recorded in the run's config.json. All defaults are in one table, which [Settings]
// lists, so a Spec means the same run in a notebook, in a study file and on the command line.
//
// A new setting is a field of Config and a row of the table. The row defines its flag, its key
// in study files, its validation and error messages, and its part of a run's identity.
package config
