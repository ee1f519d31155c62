// The kernel in Go: go run . KERNEL.WASM TRACE.TXT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	kernel := must(wazero.NewRuntime(ctx).Instantiate(ctx, must(os.ReadFile(os.Args[1]))))
	if kernel.ExportedGlobal("ABI_VERSION").Get() != 1 {
		log.Fatal("another version of the kernel's ABI")
	}
	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile(os.Args[2])))), "\n")
	state := lines[len(lines)-1]
	// a line is NAME ARGUMENT... = ANSWER; the executor's handle is the first argument of all but createExecutor
	var functions []api.Function
	var arguments [][]uint64
	for _, line := range lines[:len(lines)-1] {
		words := strings.Fields(line[:strings.Index(line, " = ")])
		function := kernel.ExportedFunction(words[0])
		encoded := make([]uint64, len(function.Definition().ParamTypes()))
		first := len(encoded) - len(words) + 1
		for i, word := range words[1:] {
			number := must(strconv.ParseFloat(word, 64))
			if encoded[first+i] = api.EncodeF64(number); function.Definition().ParamTypes()[first+i] == api.ValueTypeI32 {
				encoded[first+i] = api.EncodeI32(int32(number))
			}
		}
		functions, arguments = append(functions, function), append(arguments, encoded)
	}
	replay := func() uint64 {
		executor := must(functions[0].Call(ctx, arguments[0]...))[0]
		for i := 1; i < len(functions); i++ {
			arguments[i][0] = executor
			must(functions[i].Call(ctx, arguments[i]...))
		}
		return executor
	}
	executor, reached := replay(), "state"
	for i := range strings.Fields(state)[1:] {
		reached += fmt.Sprintf(" %.0f", api.DecodeF64(must(kernel.ExportedFunction("stateNumber").Call(ctx, executor, uint64(i)))[0]))
	}
	if fmt.Println(reached); reached != state {
		log.Fatalf("in Spark %s", state)
	}
	start, rounds := time.Now(), 0
	for ; time.Since(start) < 500*time.Millisecond; rounds++ {
		must(kernel.ExportedFunction("destroyExecutor").Call(ctx, replay()))
	}
	fmt.Printf("%.0f operations per second\n", float64(rounds*(len(functions)-1))/time.Since(start).Seconds())
}
