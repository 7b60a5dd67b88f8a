//go:build !(goexperiment.simd && (amd64 || arm64))

package dot

func products(dst *[tile * tile]float64, a, b []float64) { productsGeneric(dst, a, b) }

func against(dst *[tile]float64, rows []float32, v Vector) { againstGeneric(dst, rows, v) }

func one(row []float32, v []float64) float64 { return product(row, v) }

func float64s(row, v []float64) float64 { return product(row, v) }
