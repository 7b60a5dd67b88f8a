// Package direct computes networks on images without a graph, by loops over vectors: to embed
// many images on a CPU, and to train networks of inverted residual blocks. For evaluation, [New]
// compiles a backbone with its weights, and [Worker.Features] runs it on one core. For training,
// [Trainer.Forward] and [Run.Backward] use all cores.
//
// Like packages flat and native it implements nets.Ops, with the same features and gradients
// within float32 rounding. Without a graph it keeps an image's maps in the caches, convolves
// depthwise without a copy for every tap, and fuses normalisation, shortcut and ReLU into a
// convolution's output tiles.
//
// # Layout of evaluation
//
// In evaluation the maps of a few images are pixels by channels: the pixels of all images in
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
// # Training
//
// A [Trainer] is for EfficientNet-Lite and similar networks: a convolution, inverted residual
// blocks and a 1x1 convolution, each with BatchNorm, and average pooling; or for the back of
// such a network. Other networks need a graph. Maps are channels-last. A 1x1 convolution and its
// gradients are then products of maps and weights without a copy, BatchNorm and depthwise
// convolutions are vectors of channels, and every map size is equally fast.
//
// Images are processed in chunks of up to eight of a group, by any number of goroutines. Sums are
// added in the order of the chunks, so results do not depend on that number. A block's expanded
// maps are never stored as a whole. Their statistics follow from the covariance of the narrow
// maps, and 32 channels at a time are computed, normalised, bounded and convolved depthwise in the
// cache. The backward pass needs only the depthwise convolutions' outputs and the narrow maps;
// passes without gradients store nothing. BatchNorm's backward pass needs sums over a group of the
// depthwise convolution's gradient. All later operations are linear, so the gradient is multiplied
// with the weights right away, and the sums' contribution is a product with a small matrix.
//
// The depthwise convolutions' maps are stored in slices of 32 channels, each contiguous for all
// pixels, so memory is read and written in order. They read zero-padded planes of a slice, where
// all outputs have the same taps.
//
// A step of CEG on EfficientNet-Lite0 at 128 pixels (384 images, 240 with gradients) takes 1.3 s
// and 3.7 GB on two cores (AMD EPYC, Zen 5). PyTorch 2.15 takes 2.3 s and 7.4 GB in its
// channels-last layout. Matrix products are half of our time.
//
// # Processors
//
// Evaluation uses vectors with AVX-512 or AVX2 (depthwise convolutions also need
// GOEXPERIMENT=simd), and on arm64 with GOEXPERIMENT=simd. Elsewhere its loops are scalar and
// several times slower than a graph. Speed on arm64 was not measured; rows.go has scalar loops
// there. Training needs AVX-512 and GOEXPERIMENT=simd.
package direct
