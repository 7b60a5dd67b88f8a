// Package visit takes a run to a site: it looks at the images of a folder with the run's network,
// asks people about some of them through a ledger, adapts, and writes the report. All is kept in
// a folder of the site, and a visit that was stopped at any moment goes on from there.
package visit
