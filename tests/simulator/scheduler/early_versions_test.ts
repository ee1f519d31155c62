// What early drivers did otherwise, as the sources of these versions say; the recorded traces of 2.3.4 and 2.4.0 hold the rest.
import { assertEquals } from "@std/assert";
import { type Outcome, rdd, shuffle, ToyCluster } from "./toy_cluster.ts";

const LOST = { kind: "processLost", message: "lost", workerLost: false, causedByApp: true } as const;

Deno.test("2.2 counts the accumulators of a second success of a result task, versions before and after do not", () => {
  const counted = (sparkVersion: string) => {
    // Both attempts of the last task end at the same time, before the one can be killed for the other.
    const cluster = new ToyCluster({
      conf: { "spark.speculation": "true", "spark.speculation.multiplier": "1.1" },
      sparkVersion,
      cores: 4,
      outcome: ({ partition, attempt }): Outcome => ({
        afterMs: partition < 3 ? 100 : partition === 4 ? 3000 : attempt === 0 ? 1000 : 600,
      }),
    });
    cluster.submit(rdd(0, 5));
    cluster.after(400, () => cluster.driver.taskScheduler.checkSpeculatableTasks());
    cluster.run();
    assertEquals(cluster.log.at(-1), "job 0 succeeded");
    return cluster.accumulated.filter(({ partition }) => partition === 3).length;
  };
  assertEquals(["2.1.3", "2.2.3", "2.3.4"].map(counted), [1, 2, 1]);
});

Deno.test("a lost executor brings back a task of which it ran the killed copy before 2.3 (SPARK-22074)", () => {
  const launched = (sparkVersion: string) => {
    const attempts: number[] = [];
    const cluster = new ToyCluster({
      conf: { "spark.speculation": "true", "spark.speculation.multiplier": "1.1" },
      sparkVersion,
      executors: { e1: "h1", e2: "h2", e3: "h3" },
      cores: 3,
      outcome: ({ stageId, partition, attempt, executor }): Outcome => {
        if (stageId === 0 && partition === 0) {
          attempts.push(attempt);
          return { afterMs: executor === "e1" ? 5000 : 100 };
        }
        return { afterMs: partition === 1 && stageId === 0 ? 3000 : 100 };
      },
    });
    cluster.submit(rdd(1, 1, [shuffle(0, rdd(0, 6), 1)]));
    cluster.after(400, () => cluster.driver.taskScheduler.checkSpeculatableTasks());
    cluster.after(1500, () => cluster.loseExecutor("e1", LOST));
    cluster.run();
    return attempts;
  };
  assertEquals(["2.2.3", "2.3.4"].map(launched), [[0, 1, 2], [0, 1]]);
});

Deno.test("who may commit a partition is forgotten when its stage is to run again before 2.1.3", () => {
  const answers = (sparkVersion: string) => {
    const cluster = new ToyCluster({
      sparkVersion,
      cores: 4,
      outcome: ({ stageId, stageAttemptId, partition, executor }): Outcome =>
        stageId === 1 && stageAttemptId === 0 && partition === 1
          ? {
            afterMs: 100,
            failure: {
              reason: "FetchFailed",
              executorId: executor,
              host: executor === "e1" ? "h1" : "h2",
              shuffleId: 0,
              mapId: 0,
              mapIndex: 0,
              reduceId: 1,
              message: "gone",
            },
          }
          : { afterMs: stageId === 1 && partition === 0 ? 2000 : 10 },
    });
    const { commitCoordinator } = cluster.driver;
    const found: boolean[] = [];
    const ask = (stageAttempt: number) =>
      found.push(commitCoordinator.canCommit(1, 0, { stageAttempt, taskAttempt: 0 }));
    cluster.submit(rdd(1, 2, [shuffle(0, rdd(0, 2), 2)]));
    cluster.after(60, () => ask(0));
    cluster.after(500, () => ask(1));
    cluster.run();
    return found;
  };
  assertEquals(["2.1.2", "2.1.3"].map(answers), [[true, true], [true, false]]);
});

Deno.test("before 2.1 a lost parent of a waiting stage runs again at once, since when its other parent is done", () => {
  const log = (sparkVersion: string) => {
    const cluster = new ToyCluster({
      sparkVersion,
      outcome: ({ stageId, executor }): Outcome => ({ afterMs: stageId === 1 ? (executor === "e1" ? 10 : 2000) : 10 }),
    });
    const final = rdd(2, 1, [shuffle(0, rdd(0, 2), 1), shuffle(1, rdd(1, 2), 1)]);
    cluster.submit(final);
    cluster.after(500, () => cluster.loseExecutor("e1", LOST));
    let atMs = 0;
    for (let ms = 600; ms < 3000; ms += 100) {
      cluster.after(ms, () => {
        if (atMs === 0 && cluster.log.includes("stage 0.1 submitted")) atMs = ms;
      });
    }
    cluster.run();
    return [cluster.log.at(-1), atMs < 1000];
  };
  assertEquals(["2.0.2", "2.1.3"].map(log), [["job 0 succeeded", true], ["job 0 succeeded", false]]);
});

Deno.test("a lost executor brings back a partition of which it still ran an attempt up to 2.4.4 (SPARK-30325)", () => {
  const resubmitted = (sparkVersion: string) => {
    let retriedOn = "";
    const cluster = new ToyCluster({
      sparkVersion,
      executors: { e1: "h1", e2: "h2", e3: "h3" },
      cores: 1,
      outcome: ({ stageId, stageAttemptId, partition, executor }): Outcome => {
        if (stageId !== 1) return { afterMs: 10 };
        if (partition === 0 && stageAttemptId === 0) {
          return {
            afterMs: 100,
            failure: {
              reason: "FetchFailed",
              executorId: "e9",
              host: "h9",
              shuffleId: 0,
              mapId: -1,
              mapIndex: -1,
              reduceId: 0,
              message: "gone",
            },
          };
        }
        // The newer attempt is not done: its first partition takes long.
        if (partition === 0) return { afterMs: 4000 };
        if (partition !== 1) return { afterMs: 10 };
        if (stageAttemptId > 0) retriedOn = executor;
        return { afterMs: stageAttemptId === 0 ? 1500 : 5000 };
      },
    });
    cluster.submit(rdd(2, 1, [shuffle(1, rdd(1, 4, [shuffle(0, rdd(0, 2), 4)]), 1)]));
    // The older attempt has completed the partition, and the newer one still runs it.
    cluster.after(1450, () => {
      for (let ms = 10; ms < 400; ms += 10) {
        cluster.after(ms, () => {
          const done = cluster.ends.some((end) => end.stageId === 1 && end.partition === 1 && end.reason === "Success");
          if (!done || retriedOn === "") return;
          cluster.loseExecutor(retriedOn, LOST);
          retriedOn = "";
        });
      }
    });
    cluster.run();
    return cluster.ends.filter((end) => end.partition === 1 && end.stageId === 1).map(({ reason }) => reason);
  };
  const twice = ["Success", "Resubmitted", "ExecutorLostFailure"];
  const once = ["Success", "ExecutorLostFailure"];
  assertEquals(["2.4.4", "2.4.5", "3.0.3"].map(resubmitted), [twice, once, once]);
});
