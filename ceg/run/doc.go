// Package run executes one run: it opens the data, queries labels (exploration) and trains with
// them (generalization) epoch by epoch, and writes records, checkpoints and the artifact to the
// run's folder. It also continues, extends and embeds finished runs.
package run
