"""The kernel in Python: python replay.py KERNEL.WASM TRACE.TXT (pip install -r requirements.txt)"""
import struct
import sys
import time

from wasmtime import Engine, Instance, Module, Store

wasm_file, trace_file = sys.argv[1:]
store = Store(Engine())
exports = Instance(store, Module.from_file(store.engine, wasm_file), []).exports(store)
assert exports["ABI_VERSION"].value(store) == 1, "another version of the kernel's ABI"
FIRST_TICKET = exports["FIRST_TICKET"].value(store)

# createExecutor, declareBlock with all RDDs, then CODE MODE FLAGS SUBJECT BYTES = ANSWER, last the state
with open(trace_file) as file:
    (_, *layout), (_, *rdds), *operations, (_, *state) = (line.split() for line in file)


def record(code, *numbers):
    mode, flags, subject, size = map(int, numbers[:4])
    return struct.pack("<BBHiq", exports[code].value(store), mode, flags, subject, size)


count = len(operations)
batch = b"".join(record(*operation) for operation in operations)
address = exports["batchBuffer"](store, count)


def replay():
    executor = exports["createExecutor"](store, *map(float, layout[:4]), int(layout[4]))
    for rdd in rdds:
        exports["declareBlock"](store, executor, int(rdd))
    exports["memory"].write(store, batch, address)
    assert exports["runBatch"](store, executor, count) == count
    return executor


def meaning(answer):
    """A negative answer is an error's status, from FIRST_TICKET down the ticket of a waiting task."""
    return f"{answer:.0f}" if answer >= 0 else "fails" if answer > FIRST_TICKET else "waits"


executor = replay()
answers = exports["memory"].read(store, address, address + 16 * count)
for operation, (answer,) in zip(operations, struct.iter_unpack("<8xd", answers)):
    if meaning(answer) != operation[-1]:
        sys.exit(f"{' '.join(operation)}: {answer}")
reached = [f"{exports['stateNumber'](store, executor, i):.0f}" for i in range(len(state))]
if reached != state:
    sys.exit(f"state {reached}, in Spark {state}")
exports["destroyExecutor"](store, executor)

start, rounds = time.perf_counter(), 0
while time.perf_counter() - start < 0.5:
    exports["destroyExecutor"](store, replay())
    rounds += 1
per_second = rounds * count / (time.perf_counter() - start)
print("state", *reached)
print(f"{per_second:.0f} operations per second")
