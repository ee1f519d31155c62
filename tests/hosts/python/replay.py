"""The kernel in Python: python replay.py KERNEL.WASM TRACE.TXT (pip install -r requirements.txt)"""
import sys
import time

from wasmtime import Engine, Instance, Module, Store, ValType

wasm_file, trace_file = sys.argv[1:]
store = Store(Engine())
exports = Instance(store, Module.from_file(store.engine, wasm_file), []).exports(store)
assert exports["ABI_VERSION"].value(store) == 1, "another version of the kernel's ABI"
FIRST_TICKET = exports["FIRST_TICKET"].value(store)


def parse(line):
    """NAME ARGUMENT... = ANSWER as function, arguments after the executor's handle, answer."""
    name, *arguments = line.split(" = ")[0].split()
    function = exports[name]
    types = function.type(store).params[-len(arguments):] if arguments else []
    numbers = [int(a) if t == ValType.i32() else float(a) for a, t in zip(arguments, types)]
    return name, function, numbers, line.split()[-1]


def meaning(answer):
    """A negative answer is an error's status, from FIRST_TICKET down the ticket of a waiting task."""
    return f"{answer:.0f}" if answer >= 0 else "fails" if answer > FIRST_TICKET else "waits"


with open(trace_file) as file:
    first, *lines, last = file.read().splitlines()
_, create_executor, layout, _ = parse(first)
calls = [parse(line) for line in lines]
state = [float(number) for number in last.split()[1:]]


def replay(check):
    executor = create_executor(store, *layout)
    for name, function, arguments, answer in calls:
        given = function(store, executor, *arguments)
        if check and meaning(given) != answer:
            sys.exit(f"{name} {arguments}: {given}, in Spark {answer}")
    return executor


executor = replay(check=True)
reached = [exports["stateNumber"](store, executor, i) for i in range(len(state))]
if reached != state:
    sys.exit(f"state {reached}, in Spark {state}")
exports["destroyExecutor"](store, executor)

start, rounds = time.perf_counter(), 0
while time.perf_counter() - start < 0.5:
    exports["destroyExecutor"](store, replay(check=False))
    rounds += 1
per_second = rounds * len(calls) / (time.perf_counter() - start)
print("state", *(f"{number:.0f}" for number in reached))
print(f"{per_second:.0f} operations per second")
