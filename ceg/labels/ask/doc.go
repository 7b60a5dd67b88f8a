// Package ask asks people for labels, round by round, through the ledger of package
// labels, and takes up their answers: whoever asks need not be there while somebody
// labels, and may be stopped at any moment. A [Desk] has no state but the ledger's.
package ask
