// Package campaign queries labels: in rounds, from the simulated annotator or from people. A
// [Campaign] manages the pool, the budget and the schedule of a run; [Queries] asks people
// through the ledger of package labels. All state is in the ledger, so the program may stop
// while people label, and continue later.
package campaign
