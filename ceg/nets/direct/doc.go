// Package direct computes networks of images by plain loops, without a graph: the way to
// embed many images on a CPU, and to train networks of inverted blocks there. [New] compiles
// a backbone with the values of its parameters; [Worker.Features] runs it on some images at a time,
// on one core; [NewTrainer] and [Trainer.Forward] take passes through it in training and
// [Run.Backward] returns gradients, on all cores.
//
// It is a lowering like packages flat and native: the same functions over nets.Ops, the
// same features and gradients within float32 rounding. What it can do that they cannot is
// to leave the maps of an image in the caches, to convolve depthwise without a copy for
// every tap, and to normalise, add a shortcut and rectify while a tile of a convolution's
// output is at hand.
//
// # Layout of evaluation
//
// In evaluation the maps of some images are pixels by channels: the pixels of all images in
// reading order, cut into blocks of 32. A block holds all channels, and of each its 32
// pixels side by side. A 1x1 convolution is then a product of its weights with every block as
// it lies there, tile by tile (package dot), which gives blocks again. Other
// convolutions gather a block's taps first. A depthwise one unrolls one channel of one
// image to a plane with borders of zeros, where every tap is the same distance away
// for all pixels.
//
// EfficientNet-Lite0 at 224 pixels takes 12 to 13 ms of one core an image (AMD EPYC with
// AVX-512), where PyTorch 2.15 takes 30 to 34 in its channels-last layout and 65 in its
// default one, in batches of 32 in alternation. Of the time, copies to and from planes
// are a third.
//
// BatchNorm becomes part of the weights before it, and limits are applied to a tile while it is
// at hand.
//
// # Training
//
// A [Trainer] is for EfficientNet-Lite and networks like it: a convolution, inverted blocks
// and a 1x1 convolution, each with BatchNorm, and means of the last maps; or for the back of
// one, from a block on. Others are trained by graphs. Its maps have the channels of a pixel
// side by side: then a 1x1 convolution is a product of maps and weights as they lie in memory,
// and so are its gradients; BatchNorm and depthwise convolutions have vectors of channels; and
// no shape of a map is better than another.
//
// Images go in chunks of up to eight of a group, which any number of goroutines take turns
// at; sums are added up in the order of the chunks, so that results do not depend on that
// number. A block's widened maps are never in memory as a whole, there or back: their
// statistics follow from the covariance of the narrow maps, and 32 of their channels at a time
// are computed, normalised, limited and convolved depthwise in a cache. For the way back,
// only the depthwise convolutions' maps and the narrow ones are kept, and nothing of passes
// without gradients. BatchNorm's way back needs sums over a group of what the depthwise
// convolution sends back; since all that follows is linear, it is multiplied with the weights
// at once, and what the sums change is a product with a matrix as small as the narrow maps.
//
// The depthwise convolutions' maps lie slice by slice, each with its 32 channels of all pixels side
// by side, so that what takes a slice at a time reads and writes memory in order. They read planes of a
// slice with zeros around the map, where all outputs see the same taps.
//
// A step of CEG on EfficientNet-Lite0 at 128 pixels, 384 images, 240 of them with gradients,
// takes 1.3 s and 3.7 GB on two cores (AMD EPYC, Zen 5), where PyTorch 2.15 takes 2.3 s in its
// channels-last layout, and 7.4 GB. Half of the time are matrix products.
//
// # Processors
//
// In evaluation the loops are vectors with AVX-512 or AVX2 (and GOEXPERIMENT=simd for
// depthwise convolutions), and on arm64 with GOEXPERIMENT=simd; elsewhere they are several
// times slower than a graph's. How fast they are on arm64 was not measured; what
// rows.go has are plain loops there. Training needs
// AVX-512 and GOEXPERIMENT=simd.
package direct
