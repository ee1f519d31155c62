import { assert, assertEquals } from "@std/assert";
import type { TaskEndReason } from "../../../src/spark/events.ts";
import { SparkConf } from "../../../src/spark/conf.ts";
import { allocationSettings } from "../../../src/simulator/scheduler/allocation_settings.ts";
import { ExecutorAllocationManager } from "../../../src/simulator/scheduler/executor_allocation_manager.ts";
import { NameTable } from "../../../src/simulator/scheduler/names.ts";
import type { TraceLine } from "../../../src/replay/trace.ts";
import { testdata, traceLines } from "../../support/traces.ts";

const ENDS: Readonly<Record<string, TaskEndReason>> = {
  success: { reason: "Success" },
  killed: { reason: "TaskKilled", killReason: "k" },
  failed: { reason: "UnknownReason" },
};

/** Runs a recorded history of ExecutorAllocationManager through the model. */
class Replay {
  readonly #executors = new NameTable();
  readonly #cached = new Map<number, Set<number>>();
  readonly #manager: ExecutorAllocationManager;
  #nowMs = 10000;
  #totals: number[] = [];
  #killed: string[] = [];
  skipped = 0;

  constructor(header: TraceLine) {
    const conf = SparkConf.from(header.conf, header.spark);
    const settings = allocationSettings(conf, conf.getInt("spark.executor.cores"));
    this.#manager = new ExecutorAllocationManager(settings!, {
      client: {
        requestTotalExecutors: (total) => this.#totals.push(total),
        killExecutors: (executors) => {
          this.#killed.push(...executors.map((executor) => this.#executors.nameOf(executor)));
          return executors;
        },
      },
      executors: this.#executors,
      nowMs: () => this.#nowMs,
      hasCachedBlocks: (executor) => (this.#cached.get(executor)?.size ?? 0) > 0,
    });
  }

  run(event: TraceLine): { totals: number[]; killed: string[]; target: number } {
    this.#totals = [];
    this.#killed = [];
    this.#apply(event);
    return { totals: this.#totals, killed: this.#killed, target: this.#manager.numExecutorsTarget };
  }

  #apply(event: TraceLine): void {
    const manager = this.#manager;
    const executor = event.exec === undefined ? -1 : this.#executors.idOf(event.exec);
    const { stage: stageId, attempt: stageAttemptId, index, speculative } = event;
    switch (event.type) {
      case "start":
        return manager.start();
      case "advance":
        this.#nowMs += event.ms;
        return;
      case "schedule":
        // A host leaves out the rounds that can do nothing.
        if (manager.nextRoundMs <= this.#nowMs) manager.schedule();
        else this.skipped++;
        return;
      case "stageSubmitted":
        return manager.stageSubmitted(stageId, stageAttemptId, event.numTasks);
      case "stageCompleted":
        return manager.stageCompleted(stageId, stageAttemptId);
      case "taskStart":
        return manager.taskStart({ stageId, stageAttemptId, index, speculative, executor });
      case "taskEnd":
        return manager.taskEnd({ stageId, stageAttemptId, index, speculative, executor }, ENDS[event.end]);
      case "speculativeTaskSubmitted":
        return manager.speculativeTaskSubmitted(stageId, stageAttemptId, index);
      case "executorAdded":
        return manager.executorAdded(executor);
      case "executorRemoved":
        this.#cached.delete(executor);
        return manager.executorRemoved(executor);
      case "cached":
        return this.#cache(executor, event);
      case "jobStart":
        return manager.jobStart(event.job, new Map([[stageId, event.shuffle]]));
      case "jobEnd":
        return manager.jobEnd(event.job);
      default:
        throw new Error(`unknown event ${event.type}`);
    }
  }

  #cache(executor: number, event: TraceLine): void {
    const blocks = this.#cached.get(executor) ?? new Set();
    this.#cached.set(executor, blocks);
    if (event.on) blocks.add(event.partition);
    else blocks.delete(event.partition);
    this.#manager.blockUpdated(executor);
  }
}

// Recorded from the real ExecutorAllocationManager (and ExecutorMonitor), called through a Scala harness with a manual
// clock and a cluster manager that grants everything: tests/testdata/scheduler/README.md.
for (const [version, events] of [["2.4.0", 15613], ["3.5.9", 15624]] as const) {
  Deno.test(`dynamic allocation asks for and kills executors as Spark ${version} does`, async () => {
    const lines = await traceLines(testdata(`scheduler/${version}/executor-allocation.jsonl.gz`));
    let replay: Replay | null = null;
    let name = "";
    let compared = 0;
    let skipped = 0;
    for (const [i, line] of lines.entries()) {
      if (line.format !== undefined) {
        replay = new Replay(line);
        name = line.name;
        continue;
      }
      assertEquals<unknown>(
        replay!.run(line.event),
        line.observed,
        `${name} line ${i + 1} ${JSON.stringify(line.event)}`,
      );
      skipped += replay!.skipped;
      replay!.skipped = 0;
      compared++;
    }
    assertEquals(compared, events);
    assert(skipped > 3000, `only ${skipped} rounds were left out`);
  });
}
