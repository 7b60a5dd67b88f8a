// Package augment computes the weakly and strongly augmented views of training images.
//
// [Weak] flips and shifts, which keeps the class obvious. [Strong] flips, applies two random
// operations of FixMatch's RandAugment and a Cutout; training asks for the same prediction on
// both. Both take an 8-bit image of the training size and a random stream, and return a new
// image of the same size. The network's graph scales and normalises pixels. A [Maker] computes
// the same views without allocation.
//
// [Policy] and [Op.Apply] apply single operations with an explicit magnitude. They reproduce
// Pillow bit for bit (integer tables, float32 blends, 16.16 fixed-point geometry), because the
// published results used it. No function modifies its source image.
//
// Sources: section 4 of Yuan et al. 2022 ("flip-and-shift" and strong augmentation), and for all
// constants the published code's pipeline (Dassl's
// data/transforms/{transforms,autoaugment,randaugment}.py).
package augment
