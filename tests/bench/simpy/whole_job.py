"""The queue of events of the bench's whole job as a user of SimPy would write it: executors with cores and memory, stages of
tasks, messages that take time, pages that are taken and spilled. What the simulator does besides (where a task runs, which block
leaves memory, what a listener hears) is left out, in SimPy's favour.

usage: python whole_job.py '{"executors": 200, "cores": 4, "tasks": 1000, "stages": [{"pages": 0}, ...]}'
Prints {"timeouts", "pages", "endMs", "cpuSeconds"} as JSON.
"""
import json
import sys
import time

import simpy

MESSAGE_MS = 1


class Job:
    def __init__(self, shape):
        self.env = simpy.Environment()
        self.shape = shape
        self.cores = [simpy.Resource(self.env, shape["cores"]) for _ in range(shape["executors"])]
        capacity = shape["cores"] * shape["pagesInMemory"]
        self.memory = [simpy.Container(self.env, capacity, capacity) for _ in range(shape["executors"])]
        self.timeouts = 0
        self.pages = 0

    def sleep(self, ms):
        self.timeouts += 1
        return self.env.timeout(ms)

    def task(self, index, pages):
        executor = index % self.shape["executors"]
        compute_ms = 500 + index * 7919 % 1000
        with self.cores[executor].request() as core:
            yield core
            yield self.sleep(MESSAGE_MS)
            if pages == 0:
                yield self.sleep(compute_ms)
            else:
                yield from self.sort(self.memory[executor], pages, compute_ms / (pages + 1))
            yield self.sleep(MESSAGE_MS)

    def sort(self, memory, pages, step_ms):
        held = 0
        for _ in range(pages):
            yield self.sleep(step_ms)
            if held == self.shape["pagesInMemory"]:
                yield memory.put(held)
                held = 0
            yield memory.get(1)
            held += 1
            self.pages += 1
        yield self.sleep(step_ms)
        yield memory.put(held)

    def run(self):
        for stage in self.shape["stages"]:
            tasks = [self.env.process(self.task(i, stage["pages"])) for i in range(self.shape["tasks"])]
            yield self.env.all_of(tasks)


def main():
    job = Job(json.loads(sys.argv[1]))
    before = time.process_time()
    job.env.run(job.env.process(job.run()))
    seconds = time.process_time() - before
    print(json.dumps({"timeouts": job.timeouts, "pages": job.pages, "endMs": job.env.now, "cpuSeconds": seconds}))


main()
