// Package direct computes the features of images by plain loops, without a graph: the
// way to embed many images on a CPU. [New] compiles a backbone with the values of its
// parameters, and [Worker.Features] runs it on some images at a time, on one core.
//
// It is a lowering like packages flat and native, for evaluation alone: the same
// functions over nets.Ops, the same features within float32 rounding. What it can do
// that they cannot is to leave the maps of an image in the caches, to convolve
// depthwise without a copy for every tap, and to normalise, add a shortcut and
// rectify while a tile of a convolution's output is at hand.
//
// # Layout
//
// The maps of some images are pixels by channels: the pixels of all images in reading
// order, cut into blocks of 32. A block holds all channels, and of each its 32 pixels
// side by side. A 1x1 convolution is then a product of its weights with every block as
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
// BatchNorm becomes part of the weights before it. With AVX-512 or AVX2 (and
// GOEXPERIMENT=simd for depthwise convolutions), and on arm64 with GOEXPERIMENT=simd, the
// loops are vectors; elsewhere they are several times slower than a graph's. How fast they
// are on arm64 was not measured.
package direct
