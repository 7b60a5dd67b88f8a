// Package study runs many runs from a list: what is to be run, and running it.
//
// A study is a file, or the same as a struct: methods x targets x budgets x
// seeds on a data set, each with settings to change. Load it and run it; call it
// again after an interruption, with more seeds, or from several processes and
// machines on one folder, and only what is missing is run:
//
//	s, err := study.Load("scripts/studies/table4-glyphs.yaml")
//	done, err := s.Run(ctx, study.Options{Dir: "runs"})
//
// Package report makes tables and figures of the folder.
//
// # The folder
//
//	NAME.study.json   the plan of the study called NAME: its runs and their labels
//	RUN/              the directory of a run, as package result describes it
//	RUN.error.txt     why the last attempt at a run failed
//	beginnings/       what runs have in common that differ in their queries alone:
//	                  their state before the first query, computed once
//
// The name of RUN begins with what it is and ends with a hash of its settings. So
// a run that occurs in several studies on one folder is run once, and a changed
// setting never meets the results of the old one. What depends on the machine,
// the place of the images above all, is no part of the hash.
//
// # Words
//
//   - Variant: a named change of settings. The rows of the paper's ablation table
//     are variants: see [Ablations].
//   - Parameter: a number that a study sweeps: see [Parameters].
//   - Pairing: runs with the same data set, target, budget and seed start from the
//     same labelled images, whatever their method, so that differences between
//     methods are taken seed by seed.
package study
