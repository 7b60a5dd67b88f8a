package direct

import "math"

// Function is a function of one number.
type Function uint8

// Functions of activations.
const (
	// Clamp is min(max(u, Lo), Hi).
	Clamp Function = iota
	// Sigmoid is 1/(1+exp(-u-Third*u^3)).
	Sigmoid
	// Erf is the error function.
	Erf
)

// Activation is y = Scale*F(Inner*x + Offset) + Shift, or with Times that times x: x*(erf(x/sqrt(2))/2 + 1/2) is GELU,
// x*sigmoid(x) SiLU and x*clamp(x/6 + 1/2, 0, 1) HardSwish. With a Third, SiLU is the other form of GELU, by tanh.
type Activation struct {
	F             Function
	Lo, Hi, Third float32
	Inner, Offset float32
	Scale, Shift  float32
	Times         bool
}

// applyGeneric puts values on the curve.
func (c *Activation) applyGeneric(v []float32) {
	for i, x := range v {
		u := c.Inner*x + c.Offset
		switch c.F {
		case Sigmoid:
			u += c.Third * u * u * u
			u = float32(1 / (1 + math.Exp(-float64(u))))
		case Erf:
			u = float32(math.Erf(float64(u)))
		default:
			u = min(max(u, c.Lo), c.Hi)
		}
		if u = c.Scale*u + c.Shift; c.Times {
			u *= x
		}
		v[i] = u
	}
}
