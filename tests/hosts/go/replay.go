// The kernel in Go: go run . KERNEL.WASM TRACE.TXT (../README.md has the form of the trace)
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"os"
	"strings"
	"time"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx, trace := context.Background(), string(must(os.ReadFile(os.Args[2])))
	kernel := must(wazero.NewRuntime(ctx).Instantiate(ctx, must(os.ReadFile(os.Args[1]))))
	call := func(name string, arguments ...uint64) uint64 {
		return must(kernel.ExportedFunction(name).Call(ctx, arguments...))[0]
	}
	lines := strings.Split(strings.TrimSpace(trace), "\n")
	name, batch, size, count, last := "", []byte{}, [4]float64{}, uint64(len(lines)-3), len(lines)-1
	var mode, flags, subject, bytes int64
	must(fmt.Sscan(lines[0], &name, &size[0], &size[1], &size[2], &size[3]))
	for _, line := range lines[2:last] {
		must(fmt.Sscan(line, &name, &mode, &flags, &subject, &bytes))
		head := kernel.ExportedGlobal(name).Get() | uint64(mode)<<8 | uint64(flags)<<16 | uint64(subject)<<32
		batch = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(batch, head), uint64(bytes))
	}
	address, f64 := api.DecodeU32(call("batchBuffer", count)), api.EncodeF64
	replay := func() (state string) {
		executor := call("createExecutor", f64(size[0]), f64(size[1]), f64(size[2]), f64(size[3]), 0)
		for _, rdd := range strings.Fields(lines[1])[1:] {
			must(fmt.Sscan(rdd, &subject))
			call("declareBlock", executor, uint64(subject))
		}
		kernel.Memory().Write(address, batch)
		call("runBatch", executor, count)
		for i := range uint64(13) {
			state += fmt.Sprintf(" %.0f", api.DecodeF64(call("stateNumber", executor, i)))
		}
		call("destroyExecutor", executor)
		return "state" + state
	}
	start, rounds := time.Now(), 0.0
	for ; time.Since(start) < 500*time.Millisecond; rounds++ {
		if state := replay(); state != lines[last] || kernel.ExportedGlobal("ABI_VERSION").Get() != 1 {
			panic(state + ", in Spark " + lines[last])
		}
	}
	fmt.Printf("%s\n%.0f operations per second\n", lines[last], rounds*float64(count)/time.Since(start).Seconds())
}
