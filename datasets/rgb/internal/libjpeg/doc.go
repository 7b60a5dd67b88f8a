// Package libjpeg decodes JPEGs to the samples that libjpeg gives, bit for bit.
//
// Nearly every picture that a deployed network sees was decoded by libjpeg, under
// Pillow, OpenCV or a browser, and what a network says of a picture moves with its
// pixels: an inverse DCT that rounds otherwise, as image/jpeg's does, changes one
// value in forty by up to three levels, and probabilities in their third decimal.
// The standard library gives no access to the coefficients, and no library in Go
// promises libjpeg's rounding, so they are decoded here.
//
// Baseline, extended sequential and progressive JPEGs of 8 bits are read, with one,
// three or four components, whole ratios of subsampling and restart markers.
// Arithmetic coding, lossless modes and 12 bits are unsupported, as they are in
// image/jpeg. Chroma stays at its own size, as in the file.
//
// Two things differ from libjpeg on files that are not whole. What libjpeg makes up
// with a warning (data that ends early, codes that no table has, components that
// never come) is an error here. And the gradients that libjpeg draws where a
// progressive file leaves out the last bits of low frequencies are not drawn.
//
// Sources: ITU-T T.81 for the format; for the arithmetic C. Loeffler, A. Ligtenberg
// and G. S. Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications",
// ICASSP 1989, with the constants' 13 bits and the two roundings of libjpeg's
// jidctint.c.
package libjpeg
