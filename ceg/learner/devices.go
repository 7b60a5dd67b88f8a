package learner

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute/distributed"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
)

// devices are those that a step computes on. With several of them the step stays what it is
// on one, a function of the whole batch, BatchNorm's statistics included: every device
// has all weights and a part of the images, and XLA's compiler (Shardy, which GoMLX calls
// auto-sharding) divides the work by them and adds up the gradients.
type devices struct {
	n int
	// whole is what every device has, and part what each has some rows of; nil on one
	// device.
	whole, part *distributed.ShardingSpec
}

func newDevices(n int) devices {
	if n < 2 {
		return devices{n: 1}
	}
	mesh, err := distributed.NewDeviceMesh([]int{n}, []string{"batch"})
	if err != nil {
		panic(err) // a name that is none
	}
	return devices{n, distributed.NewReplicatedShardingSpec(mesh), &distributed.ShardingSpec{Mesh: mesh, Axes: []distributed.AxisSpec{mesh.AxesNames()}}}
}

// checkDevices returns an error where b cannot divide a step of o among as many devices.
func checkDevices(o Options, b engine.Backend) error {
	const path = "network.devices"
	batch := o.Domains * o.PerDomain
	switch have := b.Compute.NumDevices(); {
	case o.Devices < 2:
		return nil
	case b.Kind == engine.Go:
		return config.Errorf(path, "%d need XLA, and this is %s", o.Devices, b.Description)
	case b.Settings.Device != "":
		return config.Errorf(path, "want %d, and this is device=%s alone, as each of several jobs has one: %s", o.Devices, b.Settings.Device, b.Description)
	case o.Devices > have:
		return config.Errorf(path, "want %d, and there are %d: %s", o.Devices, have, b.Description)
	case batch%o.Devices != 0:
		return config.Errorf(path, "the %d images of a batch (%d of each of %d domains) cannot be divided equally among %d", batch, o.PerDomain, o.Domains, o.Devices)
	}
	return nil
}

// divide runs an executable on all devices. Its first arguments, of the given number, are whole;
// the others are divided fields. Its results are whole.
func (d devices) divide(e *graph.Exec, whole int, fields []field) *graph.Exec {
	if d.n == 1 {
		return e
	}
	specs := slices.Repeat([]*distributed.ShardingSpec{d.whole}, whole)
	for _, f := range fields {
		if f.divided {
			specs = append(specs, d.part)
		} else {
			specs = append(specs, d.whole)
		}
	}
	return e.AutoSharding(d.whole.Mesh).WithInputShardingSpecs(specs...).WithOutputShardingSpecs(d.whole)
}

// partOf returns what a device gets of a field, and of its flat values.
func (d devices) partOf(f field, flat any, device int) (field, any) {
	if !f.divided {
		return f, flat
	}
	f.shape = slices.Clone(f.shape)
	f.shape[0] /= d.n
	v := reflect.ValueOf(flat)
	n := v.Len() / d.n
	return f, v.Slice(device*n, (device+1)*n).Interface()
}

// trained lists the weights and the velocity on a device.
func (l *Learner) trained(device int) []**tensors.Tensor {
	lists := [][]*tensors.Tensor{l.weights, l.velocity}
	if device > 0 {
		lists = l.elsewhere[device-1 : device]
	}
	var places []**tensors.Tensor
	for _, list := range lists {
		for i := range list {
			places = append(places, &list[i])
		}
	}
	return places
}

// spread copies the weights and the velocity to all devices but the first.
func (l *Learner) spread() error {
	l.elsewhere = make([][]*tensors.Tensor, l.devices.n-1)
	for i := range l.elsewhere {
		for _, t := range slices.Concat(l.weights, l.velocity) {
			c, err := t.LocalClone()
			if err != nil {
				return err
			}
			l.elsewhere[i] = append(l.elsewhere[i], c)
		}
	}
	return nil
}

// freeTrained frees the weights and the velocity on all devices.
func (l *Learner) freeTrained() {
	for _, t := range slices.Concat(append(l.elsewhere, l.weights, l.velocity)...) {
		t.MustFinalizeAll()
	}
	l.weights, l.velocity, l.elsewhere = nil, nil, nil
}
