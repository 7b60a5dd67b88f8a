//go:build !goexperiment.simd || !amd64

package tsne

const hasPanels = false

func panelForces(p, y0, y1 []float32, i int, out []forces) { panic("tsne: no vectors") }
