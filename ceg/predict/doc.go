// Package predict uses trained networks: it opens a run, predicts images and whole folders,
// calibrates probabilities, and exports networks as ONNX files.
//
//	p, err := predict.Open("runs/mine")
//	defer p.Close()
//	list, err := p.Images(image)
//
// Predictions are a function of the run and of one image: other images in the batch do not
// change a byte, on the Go backend to the last bit.
//
// Probabilities are the softmax at the run's temperature, which is 1 until the run is calibrated
// ([Predictor.Calibrate]).
package predict
