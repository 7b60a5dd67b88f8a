// Package inference computes the features of images without a graph, by loops over vectors on a
// CPU. [New] compiles a backbone with its weights, and [Worker.Features] runs it on one core.
//
// Like packages flat and native it implements nets.Ops, with the same features within float32
// rounding. Without a graph it keeps an image's maps in the caches, convolves
// depthwise without a copy for every tap, and fuses normalisation, shortcut and ReLU into a
// convolution's output tiles.
//
// # Layout
//
// The maps of a few images are pixels by channels: the pixels of all images in
// reading order, divided into blocks of 32. A block holds all channels, each with its 32 pixels
// contiguous. A 1x1 convolution is a product of its weights with every block, tile by tile
// (package dot), and gives blocks again. Other convolutions first gather a block's taps. A
// depthwise convolution unrolls one channel of one image to a zero-padded plane, in which every
// tap has a constant offset.
//
// EfficientNet-Lite0 at 224 pixels takes 12 to 13 ms of one core an image (AMD EPYC with
// AVX-512). PyTorch 2.15 takes 30 to 34 ms in its channels-last layout and 65 in its default
// one, in alternating batches of 32. Copies to and from planes are a third of our time.
//
// BatchNorm is folded into the preceding weights, and ReLU bounds are applied to a tile while it
// is in registers.
//
// # Processors
//
// It uses vectors with AVX-512 or AVX2 (depthwise convolutions also need
// GOEXPERIMENT=simd), and on arm64 with GOEXPERIMENT=simd. Elsewhere its loops are scalar and
// several times slower than a graph. Speed on arm64 was not measured; rows.go has scalar loops
// there.
package inference
