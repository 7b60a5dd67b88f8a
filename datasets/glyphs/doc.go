// Package glyphs renders digits in four styles: a multi-domain data set that needs no files
// and no download.
//
// Render(domain, class, index) returns one 32x32 image, for instance the 17th "7" of
// "photo". Its arguments determine every pixel. datasets.Glyphs wraps it as a Dataset of 60
// images per digit and style. A style is a domain: a network is trained on three styles and
// tested on the fourth.
//
// # Styles
//
// All styles draw the outlines of 14 typefaces (Go, Go Mono; Liberation Sans,
// Serif, Mono; regular, bold and italic). Lengths below are pixels,
// heights and widths percent of the image and of the font's own; values
// are uniform in the ranges given.
//
//   - cartoon: a fat digit in a flat colour with a thick outline (black
//     mostly, white or a darker tone), before a saturated flat colour with one of
//     six patterns: hill, dots, stripes, sunburst, checks, balloons. Height 60-80,
//     width 90-128, turn ±14°, slant ±0.16, warp 0.16-0.75, extra weight 0.1-0.6,
//     outline 1-2; hard shadow, highlight and second tone in about half, 2 in 5 and
//     1 in 3.
//   - photo: a digit of some material, lighter or darker than the surface behind it
//     (by at least 80 of 255 before lighting), on cloudy, streaked or bricked
//     texture with a gradient, up to four discs and bars out of focus, a soft shadow
//     in 3 of 5, a bevelled edge, something thin in front in 1 of 5, light that
//     falls off, blur (2 of 3) and noise. Height 60-86, width 85-122, turn ±11°,
//     slant ±0.18, warp 0-0.56, extra weight 0-0.56.
//   - print: dark ink on light tinted paper, with bleeding, fading and grain; in
//     half of the images the middle one of a line, with neighbours cut off at the
//     sides, and in 1 of 5 a ruled line below. Height 56-80, width 85-118, turn ±7°,
//     slant ±0.12, warp 0-0.19, extra weight -0.2-0.28.
//   - sketch: one to three wobbling pencil outlines of a digit on white paper,
//     unevenly pressed, grey or (1 of 4) coloured, with up to two faint construction
//     lines and (1 of 4) hatching. Height 66-90, width 92-138, turn ±12°, slant ±0.2,
//     warp 0.25-1, each pass again 0.16-0.81.
//
// The position is uniform within 5/8 of the room that the digit leaves, and closer
// to the middle (1/8 across) between neighbours in print.
//
// # Same pixels everywhere
//
// Glyphs are rendered from their distance fields by integer arithmetic only. So no processor fuses
// a floating-point product with a sum where another does not, and no assembly differs from its
// portable version. (The one exception is a square root, which IEEE 754 defines exactly.) Random
// numbers come from seed.New, by a reduction that is the same on 32-bit and 64-bit machines. The
// tests pin a checksum of the whole set. Outlines come from the font files in the modules
// golang.org/x/image and codeberg.org/go-fonts/liberation, so the checksums hold for the versions
// in go.mod.
package glyphs
