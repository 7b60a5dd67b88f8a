// Package study runs many training runs from one file: methods x targets x budgets x seeds on a
// data set, with settings to change. After an interruption, with more seeds, or from several
// processes and machines on one folder, the same call runs only the missing runs:
//
//	s, err := study.Load("scripts/studies/table4-glyphs.yaml")
//	done, err := s.Run(ctx, study.Options{Dir: "runs"})
//
// Package report makes tables and figures from the folder.
//
// # The folder
//
//	NAME.study.json   the plan of the study called NAME: its runs and their labels
//	RUN/              the folder of a run, as described in package result
//	RUN.error.txt     the error of the last attempt at a run
//
// RUN is a short description followed by a hash of the settings. So a run of several studies on
// one folder runs once, and a changed setting never reads old results. The hash excludes
// machine-dependent values, such as the location of images.
//
// # Terms
//
//   - Variant: a named change of settings. The rows of the paper's ablation table
//     are variants: see [Ablations].
//   - Parameter: a hyperparameter that a study sweeps: see [config.Parameters].
//   - Pairing: runs with the same data set, target, budget and seed start from the
//     same labelled images, whatever their method, so methods are compared by
//     paired differences over seeds.
package study
