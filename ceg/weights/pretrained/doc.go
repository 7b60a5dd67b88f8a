// Package pretrained turns the word that follows --weights into a weights file
// whose origin is known.
//
// Call [Open] with "none", with the path of a .safetensors or PyTorch file, or
// with "imagenet", which stands for torchvision's ResNet weights (IMAGENET1K_V1)
// as published by timm on the Hugging Face hub. Those are taken from the hub's
// local cache, which Python programs share, or downloaded into it, and used only
// if their SHA-256 is the one in this package. What comes back says where the
// weights are from, which data they have seen and their digest: the facts that a
// run records.
//
//	network   repository               licence        ImageNet-1k top-1
//	resnet18  timm/resnet18.tv_in1k    BSD-3-Clause   69.758 %
//	resnet34  timm/resnet34.tv_in1k    BSD-3-Clause   73.314 %
//	resnet50  timm/resnet50.tv_in1k    BSD-3-Clause   76.130 %
//
// Top-1 is torchvision's own figure for one 224-pixel centre crop. The licence is
// that of the repositories; ImageNet's terms of access bind whoever uses weights
// trained on it.
//
// Revisions are those of the repositories' pages on the hub. So are the digests of
// resnet18 and resnet50. The digest of resnet34 is the one that a public project
// pins beside the same two; its size fits the network. A wrong digest here could
// only make a download be refused, never let other bytes in.
package pretrained
