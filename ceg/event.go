package ceg

// Event tells an observer how a run is going. It is sent after every training
// step, with Done set at the end of an epoch, and with a Message when there is
// something to say.
type Event struct {
	// Epoch counts from 0 to Epochs-1, Step from 1 to Steps within the epoch.
	Epoch, Epochs int
	Step, Steps   int
	// Loss is the last step's L_ss, at the end of an epoch the epoch's mean.
	Loss float64
	// Labelled is the number of labels that the epoch trains with.
	Labelled int
	// TargetAcc and ValAcc are the accuracies after the last evaluated epoch, in
	// [0, 1], on the target domain and on the source validation splits; NaN
	// before the first.
	TargetAcc, ValAcc float64
	// Done says that the epoch is complete and recorded.
	Done bool
	// Message is a line for the user, or empty.
	Message string
}
