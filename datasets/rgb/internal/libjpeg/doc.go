// Package libjpeg decodes JPEGs to the same samples as libjpeg, bit for bit.
//
// Nearly all images that deployed networks see are decoded by libjpeg (Pillow, OpenCV,
// browsers), and predictions depend on the pixels. image/jpeg's inverse DCT rounds differently:
// it changes one value in forty by up to three levels, and probabilities in their third decimal.
// It gives no access to the coefficients, and no Go library matches libjpeg's rounding, so this
// package decodes them.
//
// It reads baseline, extended sequential and progressive JPEGs of 8 bits, with one, three or
// four components, integer ratios of subsampling and restart markers. Arithmetic coding,
// lossless modes and 12 bits are unsupported, as in image/jpeg. Chroma keeps its own size, as in
// the file.
//
// There are two differences for damaged files. Where libjpeg warns and makes up data (early end,
// unknown codes, missing components), this package returns an error. It does not smooth blocks
// of progressive files that lack the last bits of low frequencies.
//
// Sources: ITU-T T.81 for the format; for the arithmetic C. Loeffler, A. Ligtenberg and G. S.
// Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications", ICASSP 1989, with the
// 13-bit constants and the two roundings of libjpeg's jidctint.c.
package libjpeg
