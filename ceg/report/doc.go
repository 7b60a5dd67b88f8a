// Package report makes tables and figures from the records of runs: the paper's tables beside
// its published numbers, comparisons with significance tests, the paper's figures, and the
// status of a study.
//
//	folder, err := report.Open("runs")
//	tables, err := folder.Table("table4", report.TableOptions{})
//	grid, err := folder.Figure(ctx, "budget", plots.Print(), report.FigureOptions{})
//
// It reads the plans of studies and the records of runs (package result), in folders or
// collected, and links no engine, so it works on any machine that has the records. Two figures,
// tsne and scores, need the networks' outputs on the pool. A function in the options
// ([FigureOptions].Keep) computes them once and stores them in the run's folder.
package report
