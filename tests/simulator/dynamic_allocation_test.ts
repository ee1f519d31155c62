// Dynamic allocation in whole simulated jobs. What the manager decides from what it hears is proven by recordings of the real
// class (scheduler/executor_allocation_manager_test.ts); here the expected times follow from the settings given: the backlog
// timeout of 1 s, rounds every 100 ms, a start-up of 3 s.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { Simulation } from "../../src/simulator/simulate.ts";
import { SIMULATION_EPOCH_MS } from "../../src/simulator/simulated_application.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";

const ON = { "spark.dynamicAllocation.enabled": "true", "spark.shuffle.service.enabled": "true" };

function run(spec: JobSpec) {
  const workload = workloadFromJobSpec(spec);
  const events: SparkEvent[] = [];
  const simulation = new Simulation(workload, {
    conf: SparkConf.from(workload.conf, workload.sparkVersion),
    sink: { event: (event) => void events.push(structuredClone(event)) },
  });
  while (!simulation.run(1 << 20));
  const at = (time: number) => time - SIMULATION_EPOCH_MS;
  return {
    simulation,
    events,
    added: events.flatMap((event) =>
      event.kind === "executorAdded" ? [[event.executorId, event.host, at(event.time)] as const] : []
    ),
    removed: events.flatMap((event) =>
      event.kind === "executorRemoved" ? [[event.executorId, at(event.time), event.reason] as const] : []
    ),
    endMs: at(events.findLast((event) => event.kind === "applicationEnd")!.time),
    failures: events.flatMap((event) => event.kind === "jobEnd" ? [event.failure] : []),
  };
}

Deno.test("executors come by the backlog, 1, 2, 4 at a time, after their start-up, as far as there is room", () => {
  const spec = {
    sparkVersion: "3.5.9",
    conf: ON,
    cluster: { executors: 6, cores: 2, hosts: 3 },
    stages: [{ id: 0, tasks: 40, computeMs: "30s" }],
  };
  // Asked for after 1, 2 and 3 s: 1, 3, 7; the cluster holds 6.
  const { added, failures } = run(spec);
  assertEquals(added.map(([id, host, time]) => `${id} ${host} ${time}`), [
    "0 host-0 4000",
    "1 host-1 5000",
    "2 host-2 5000",
    "3 host-0 6000",
    "4 host-1 6000",
    "5 host-2 6000",
  ]);
  assertEquals(failures, [null]);
  const slow = run({ ...spec, cluster: { ...spec.cluster, executorStartupMs: "20s" } });
  assertEquals(slow.added[0], ["0", "host-0", 21000]);
});

Deno.test("no more executors come than the tasks can use and spark.dynamicAllocation.maxExecutors allows", () => {
  const stages = [{ id: 0, tasks: 12, computeMs: "60s" }];
  const cluster = { cores: 4 };
  assertEquals(run({ conf: ON, cluster, stages }).added.length, 3);
  assertEquals(
    run({ conf: { ...ON, "spark.dynamicAllocation.maxExecutors": "2" }, cluster, stages }).added.length,
    2,
  );
});

Deno.test("idle executors go after spark.dynamicAllocation.executorIdleTimeout, down to minExecutors", () => {
  const conf = {
    ...ON,
    "spark.dynamicAllocation.executorIdleTimeout": "5s",
    "spark.dynamicAllocation.initialExecutors": "4",
    "spark.dynamicAllocation.minExecutors": "2",
  };
  const { added, removed, endMs } = run({
    sparkVersion: "3.5.9",
    conf,
    cluster: { executors: 4 },
    // One long task: three executors are idle from 1 s on.
    stages: [{ id: 0, tasks: 4, computeMs: [1000, 1000, 1000, 20_000] }],
  });
  // The first executors are there when the application starts.
  assertEquals(added.map(([, , time]) => time), [0, 0, 0, 0]);
  assertEquals(removed.length, 2);
  for (const [, time, reason] of removed) {
    assert(time > 6000 && time <= 6200, `removed at ${time}`);
    assertEquals(reason, "Executor killed by driver.");
  }
  assert(endMs > 20_000);
});

/** A job that caches an RDD on two executors, then one that does nothing with it for a long time. */
function cachedSpec(cachedTimeout: string | null): JobSpec {
  return {
    sparkVersion: "3.5.9",
    conf: {
      ...ON,
      "spark.dynamicAllocation.executorIdleTimeout": "2s",
      "spark.dynamicAllocation.initialExecutors": "2",
      ...(cachedTimeout === null ? {} : { "spark.dynamicAllocation.cachedExecutorIdleTimeout": cachedTimeout }),
    },
    cluster: { executors: 2 },
    cached: [{ name: "users", partitions: 2, bytes: "1m" }],
    stages: [
      { id: "fill", tasks: 2, caches: ["users"], computeMs: 100 },
      { id: "wait", tasks: 1, computeMs: "30s" },
    ],
  };
}

Deno.test("executors with cached blocks stay, or go after spark.dynamicAllocation.cachedExecutorIdleTimeout", () => {
  assertEquals(run(cachedSpec(null)).removed, []);
  const { removed } = run(cachedSpec("10s"));
  assertEquals(removed.length, 1);
  assert(removed[0][1] > 10_000 && removed[0][1] < 11_000, `removed at ${removed[0][1]}`);
  // Up to 2.4 the block manager is asked, not the events.
  assertEquals(run({ ...cachedSpec(null), sparkVersion: "2.4.0" }).removed, []);
});

Deno.test("without a shuffle service executors stay while an active job needs their shuffle files", () => {
  const spec = (conf: Record<string, string>): JobSpec => ({
    sparkVersion: "3.5.9",
    conf: {
      "spark.dynamicAllocation.enabled": "true",
      "spark.dynamicAllocation.executorIdleTimeout": "2s",
      "spark.dynamicAllocation.initialExecutors": "3",
      ...conf,
    },
    cluster: { executors: 3 },
    stages: [
      { id: "map", tasks: 3, computeMs: 100, shuffleWriteBytes: "1m" },
      { id: "reduce", parents: ["map"], tasks: 1, computeMs: "20s" },
    ],
  });
  // From 3.4 on shuffles are tracked by default.
  assertEquals(run(spec({})).removed, []);
  assertEquals(run(spec({ "spark.shuffle.service.enabled": "true" })).removed.length, 2);
});

Deno.test("a task that needs the map output of a removed executor finds it at the shuffle service", () => {
  const { removed, events, failures } = run({
    sparkVersion: "3.5.9",
    conf: {
      ...ON,
      "spark.dynamicAllocation.executorIdleTimeout": "1s",
      "spark.dynamicAllocation.initialExecutors": "3",
    },
    cluster: { executors: 3 },
    stages: [
      { id: "map", tasks: 3, computeMs: [100, 100, 10_000], shuffleWriteBytes: "1m" },
      { id: "reduce", parents: ["map"], tasks: 2, computeMs: 100 },
    ],
  });
  assertEquals([removed.length >= 2, failures], [true, [null]]);
  const ends = events.flatMap((event) => event.kind === "taskEnd" ? [event.reason.reason] : []);
  assertEquals(ends, Array(5).fill("Success"));
});

Deno.test("a lost executor is replaced while the target stands", () => {
  const { added, removed, failures } = run({
    conf: { ...ON, "spark.dynamicAllocation.initialExecutors": "2", "spark.dynamicAllocation.minExecutors": "2" },
    cluster: { executors: 2, executorStartupMs: 1000 },
    stages: [{ id: 0, tasks: 4, computeMs: "5s" }],
    faults: [{ kind: "executorLost", executor: "1", atMs: 2000 }],
  });
  assertEquals(added.map(([id, host, time]) => `${id} ${host} ${time}`), [
    "0 host-0 0",
    "1 host-1 0",
    "2 host-1 3001",
  ]);
  assertEquals([removed[0].slice(0, 2), failures], [["1", 2001], [null]]);
});

Deno.test("an idle application takes no events", () => {
  // Executors that must stay wait for a job for a day.
  const spec = {
    conf: { ...ON, "spark.dynamicAllocation.minExecutors": "2" },
    cluster: { executors: 4 },
    stages: [{ id: 0, tasks: 1, computeMs: 1 }, { id: 1, tasks: 1, computeMs: 1 }],
  };
  const eventsHandled = (delayMs: number) => {
    const jobs = [{ stage: 0 }, { stage: 1, after: [0], delayMs }];
    const { simulation, failures } = run({ ...spec, jobs });
    assertEquals(failures, [null, null]);
    return simulation.eventsHandled;
  };
  // Offers every second are all that there is: 86,400 of them.
  assert(eventsHandled(86_400_000) - eventsHandled(100) < 87_000);
});

Deno.test("an application that gets no executor ends, and says so", () => {
  for (const sparkVersion of ["2.4.0", "3.5.9"]) {
    const workload = workloadFromJobSpec({
      sparkVersion,
      conf: ON,
      cluster: { executors: 1 },
      stages: [{ id: 0, tasks: 3 }],
    });
    const warnings: string[] = [];
    const simulation = new Simulation({ ...workload, cluster: { ...workload.cluster, executors: [] } }, {
      conf: SparkConf.from(workload.conf, workload.sparkVersion),
      sink: { event: (event) => void (event.kind === "warning" && warnings.push(event.code)) },
    });
    while (!simulation.run(1 << 20));
    assertEquals(warnings, ["simulation.stuck"]);
  }
});

Deno.test("a task that needs more cores than an executor has is refused", () => {
  const error = assertThrows(
    () => run({ conf: { ...ON, "spark.task.cpus": "2" }, cluster: { executors: 2 }, stages: [{ id: 0, tasks: 1 }] }),
    InputError,
  );
  assertEquals(error.code, "conf.cores");
});

Deno.test("speculative copies count as backlog: an executor is asked for that has room for them", () => {
  const spec: JobSpec = {
    sparkVersion: "3.5.9",
    conf: {
      ...ON,
      "spark.dynamicAllocation.initialExecutors": "2",
      "spark.speculation": "true",
      "spark.speculation.quantile": "0.5",
      "spark.speculation.efficiency.enabled": "false",
    },
    cluster: { executors: 3, cores: 2, hosts: 3 },
    stages: [{ id: 0, tasks: 4, computeMs: "10s" }],
    faults: [{ kind: "slowHost", host: "host-1", factor: 10 }],
  };
  const { added, events } = run(spec);
  const { added: without } = run({ ...spec, conf: { ...spec.conf, "spark.speculation": "false" } });
  // four tasks have a core each; copies of two of them, on another host than their own, find the cores of host-0 free
  assertEquals(without.length, 2);
  const copies = events.filter((event) => event.kind === "taskStart" && event.speculative);
  assertEquals(copies.length, 2);
  assertEquals(events.filter(({ kind }) => kind === "speculativeTaskSubmitted").length, 2);
  assertEquals(added.length >= 2, true);
});
