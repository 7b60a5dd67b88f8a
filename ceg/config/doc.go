// Package config holds the settings of a run, as data: it links no engine.
//
// A [Spec] is what a person says: a data set, a target domain, a method, a preset, and
// whatever else they name. A [Config] is what is recorded: every setting spelled out.
// [Resolve] is the one function between them, and all defaults live here, in the table
// that [Settings] lists. So the same words mean the same run in a notebook, in a study
// file and on the command line:
//
//	c, err := config.Resolve(config.Spec{Target: "photo", Method: "ceg", Preset: config.Authors,
//		Set: map[string]any{"schedule.epochs": 12, "gamma1": 2}})
//
// A new setting is a field of Config and a row of the table. Flags, keys of study files,
// their validation, the valid values in errors, the identity of a run, the upgrade of old
// configs and ledg settings are made from the row.
package config
