// Package report makes tables and figures of what runs found out: the paper's
// tables with its numbers beside ours, a table of everything in a folder, the
// paper's figures, and how the runs of a study stand.
//
//	folder, err := report.Open("runs")
//	tables, err := folder.Table("table4", report.TableOptions{})
//	grid, err := folder.Figure(ctx, "budget", plots.Print(), report.FigureOptions{})
//
// It reads what package result does, the plans of studies and the records of runs, in
// folders or collected, and nothing else: it links neither the method nor the engine,
// so that a table is made on any machine that has the records. Two figures need
// more than records: tsne and scores show what the run's networks say about its
// pool. That is computed once by a function that the options name
// ([FigureOptions].Keep), kept in the run's directory, and drawn from there.
package report
