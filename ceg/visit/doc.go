// Package visit applies package site to a folder of images: it runs the network of a run on
// them, queries human labels through a ledger, adapts the class head, and writes the report. All
// state is in the site's folder, and an interrupted visit can be continued.
package visit
