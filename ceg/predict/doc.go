// Package predict uses what a run has trained: it opens the run, says what is in
// images, writes predictions of whole folders, and exports the networks.
//
//	p, err := predict.Open("runs/mine")
//	defer p.Close()
//	list, err := p.Images(image)
//
// Predictions are a function of the run and of one image: the same bytes whatever
// other images are in the batch, to the last bit on the Go backend.
//
// Probabilities are those of the softmax at the run's temperature, which is 1 until
// the run is calibrated ([Calibrate]).
package predict
