// Package augment makes the weak and strong views of an image that training
// compares.
//
// Weak flips and shifts: the class must stay obvious. Strong flips, applies two
// random operations of FixMatch's RandAugment and cuts a black hole: the network
// should give the same answer anyway. Both take an 8-bit image of the training
// size and an explicit random stream, and return a new image of the same size;
// scaling to [0, 1] and normalising is left to the network's graph. A Maker makes the
// same views without allocating, for the inner loop.
//
// Every operation can be had with an explicit magnitude ([Policy], [Op.Apply]). They
// reproduce Pillow bit for bit (integer tables, float32 blends, 16.16 fixed-point
// geometry), because the published numbers were made with it. No function here
// changes its source.
//
// Sources: section 4 of Yuan et al. 2022 ("flip-and-shift" and strong
// augmentation); the published code's pipeline (Dassl's
// data/transforms/{transforms,autoaugment,randaugment}.py) for all constants.
package augment
