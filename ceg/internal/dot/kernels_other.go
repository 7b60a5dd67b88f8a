//go:build !(goexperiment.simd && amd64)

package dot

func products(dst *[tile * tile]float64, a, b []float64) { productsGeneric(dst, a, b) }

func against(dst *[tile]float64, rows []float32, v Vector) { againstGeneric(dst, rows, v) }
