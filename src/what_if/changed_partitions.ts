/**
 * Other numbers of shuffle partitions: tasks that are merged or split, and what adaptive execution then does or no
 * longer does.
 *
 * A log has the sum of what the tasks of a stage did; how it would be dealt out over more or fewer tasks is assumed to
 * be even, as hash partitioning makes it but for skewed keys.
 *
 * @module
 */
import type { Cluster, Column, Evidence, Job, Rdd, RddDependency, Shuffle, Workload } from "../simulator/workload.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { ChangeWarning } from "./apply_changes.ts";
import { coalescedShares, type Coalescing, coalescingOf, likelyShares, sizeDeviation } from "./coalesced_partitions.ts";
import { spreadDemand, spreadRdd } from "./spread_work.ts";

const SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions";
const ADAPTIVE = "spark.sql.adaptive.enabled";

/** Settings before and after, and the cluster that they give. */
export interface PartitionChange {
  readonly before: SparkConf;
  readonly conf: SparkConf;
  readonly cluster: Cluster;
  readonly warnings: ChangeWarning[];
}

/**
 * The workload with as many reduce tasks as the settings ask for. Only exchanges of Spark SQL follow
 * spark.sql.shuffle.partitions, and only they are merged by adaptive execution; without it a query is one job. What
 * was recorded stays as long as nothing that it depends on changes.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { WorkloadBuilder } from "../workload/from_event_log.ts";
 * import { changedPartitions } from "./changed_partitions.ts";
 *
 * const workload = new WorkloadBuilder().workload();
 * const before = SparkConf.from({}, "3.5.9");
 * const conf = before.with({ "spark.sql.shuffle.partitions": "8" });
 * assertEquals(changedPartitions(workload, { before, conf, cluster: workload.cluster, warnings: [] }).rdds, []);
 * ```
 */
export function changedPartitions(workload: Workload, change: PartitionChange): Workload {
  const { before, conf, warnings } = change;
  const recorded = coalescingOf(before, parallelismOf(workload.cluster));
  // How many cores are there when a query is planned is not known with dynamic allocation: as many as were.
  const cluster = change.cluster.provision === null ? change.cluster : workload.cluster;
  const asked = coalescingOf(conf, parallelismOf(cluster));
  const adaptive = [before, conf].map((settings) => settings.getBoolean(ADAPTIVE));
  if (!adaptive[0] && adaptive[1]) {
    warnings.push({
      code: "adaptive.not_planned",
      message: `${ADAPTIVE}=true would run each stage as a job and may change plans, which a log without it does not ` +
        "tell: jobs and plans are kept, partitions are merged",
      count: 1,
    });
  }
  const repartitioned = sameCoalescing(recorded, asked)
    ? workload
    : new Repartition(workload, recorded, asked).workload();
  return adaptive[0] && !adaptive[1] ? withoutMapStageJobs(repartitioned) : repartitioned;
}

/** Tasks that run at once (TaskScheduler.defaultParallelism): local mode has its cores, a cluster never less than 2. */
export function parallelismOf({ master, executors }: Cluster): number {
  const staying = executors.filter(({ removedMs }) => removedMs === null);
  const cores = (staying.length > 0 ? staying : executors).reduce((sum, executor) => sum + executor.cores, 0);
  return /^local(?:\[|$)/.test(master) ? cores : Math.max(cores, 2);
}

function sameCoalescing(a: Coalescing, b: Coalescing): boolean {
  if (a.planned !== b.planned || a.enabled !== b.enabled) return false;
  return !a.enabled || a.minPartitions === b.minPartitions && a.advisoryBytes === b.advisoryBytes &&
      a.minBytes === b.minBytes;
}

class Repartition {
  readonly #workload: Workload;
  readonly #recorded: Coalescing;
  readonly #asked: Coalescing;
  /** By RDD: the exchanges' readers of which its partition i reads partition i. */
  readonly #groups = new Map<number, Rdd[]>();
  /** Shares of the tasks, by RDD, where their number differs from the recorded one. */
  readonly #shares = new Map<number, Column>();

  constructor(workload: Workload, recorded: Coalescing, asked: Coalescing) {
    this.#workload = workload;
    this.#recorded = recorded;
    this.#asked = asked;
  }

  workload(): Workload {
    this.#groupReaders();
    for (const group of new Set(this.#groups.values())) if (group.length > 0) this.#deal(group);
    for (const rdd of this.#workload.rdds) this.#follow(rdd);
    const { rdds, shuffles, jobs, demands, faults, evidence } = this.#workload;
    const old = new Map(rdds.map(({ id, numPartitions }) => [id, numPartitions]));
    const rddOfDemand = new Map<number, number>();
    for (const { demand, rddId } of [...shuffles, ...jobs]) rddOfDemand.set(demand, rddId);
    const sharesOf = (demand: number) => this.#shares.get(rddOfDemand.get(demand) ?? -1);
    const mapDemands = new Set(shuffles.map(({ demand }) => demand));
    return {
      ...this.#workload,
      rdds: rdds.map((rdd) => this.#rdd(rdd, old)),
      shuffles: shuffles.map((shuffle) => this.#shuffle(shuffle)),
      jobs: jobs.map((job) => this.#job(job)),
      demands: demands.map((demand, i) => {
        const shares = sharesOf(i);
        return shares === undefined ? demand : spreadDemand(demand, shares, mapDemands.has(i));
      }),
      faults: faults.filter((fault) =>
        !("partition" in fault) || fault.partition < (sharesOf(fault.demand)?.length ?? Infinity)
      ),
      evidence: [...evidence, ...this.#evidence(rddOfDemand)],
    };
  }

  /** Exchanges' readers whose partitions one task reads together: a join's sides are merged alike. */
  #groupReaders(): void {
    const shuffles = new Map(this.#workload.shuffles.map((shuffle) => [shuffle.id, shuffle]));
    for (const rdd of this.#workload.rdds) {
      const parents = rdd.dependencies.filter((dependency) => dependency.kind === "narrow");
      const groups = parents.filter(({ mapping }) => mapping === "oneToOne").map(({ rddId }) => this.#groups.get(rddId))
        .filter((group) => group !== undefined);
      const [group = [], ...others] = new Set(groups);
      for (const other of others) {
        group.push(...other);
        for (const [id, old] of this.#groups) if (old === other) this.#groups.set(id, group);
      }
      if (this.#isRead(readShuffle(rdd, shuffles))) group.push(rdd);
      this.#groups.set(rdd.id, group);
    }
  }

  /**
   * Whether an exchange's partitions are dealt out anew. One by ranges has no more than there are distinct keys, whatever
   * was asked for (RangePartitioner): each is read by a task where nothing merges them any more.
   */
  #isRead(shuffle: Shuffle | undefined): boolean {
    const { planned, enabled } = this.#recorded;
    if (shuffle === undefined) return false;
    return shuffle.numReducers === planned || enabled && !this.#asked.enabled && shuffle.numReducers < planned;
  }

  /** Deals the partitions of exchanges that are read together out to tasks. */
  #deal(readers: readonly Rdd[]): void {
    const shuffles = new Map(this.#workload.shuffles.map((shuffle) => [shuffle.id, shuffle]));
    const written = readShuffle(readers[0], shuffles)!.numReducers;
    const partitions = written === this.#recorded.planned ? this.#asked.planned : written;
    const shares = this.#mergedShares(readers) ?? new Float64Array(partitions).fill(1 / partitions);
    for (const { id, numPartitions } of readers) {
      if (this.#asked.enabled || numPartitions !== shares.length) this.#shares.set(id, shares);
    }
  }

  /** Shares under adaptive execution; null where it merges nothing. */
  #mergedShares(readers: readonly Rdd[]): Column | null {
    const { planned, enabled } = this.#recorded;
    if (!this.#asked.enabled) return null;
    const shuffles = new Map(this.#workload.shuffles.map((shuffle) => [shuffle.id, shuffle]));
    const read = new Set(readers.map((rdd) => readShuffle(rdd, shuffles)!));
    const total = [...read].reduce((sum, { demand }) => sum + this.#bytesWritten(demand), 0);
    const tasks = readers[0].numPartitions;
    const equal = new Float64Array(planned).fill(total / planned);
    if (enabled && tasks === planned && coalescedShares(equal, this.#recorded).length < planned) return null;
    if (total === 0) return new Float64Array(Math.min(tasks, this.#asked.planned)).fill(1 / tasks);
    const bytes = this.#bytesRead(readers);
    const { seed, demands } = this.#workload;
    const maps = [...read].map(({ demand }) => ({
      bytes: demands[demand].shuffleWriteBytes,
      records: demands[demand].shuffleWriteRecords,
    }));
    const isKnown = bytes.length === planned && planned === this.#asked.planned;
    const sizes = isKnown ? bytes.map((size) => size * planned / total) : null;
    const deviation = sizeDeviation(bytes, planned);
    return likelyShares({ partitions: this.#asked.planned, sizes, deviation, seed, maps }, this.#asked);
  }

  #bytesWritten(demand: number): number {
    return this.#workload.demands[demand].shuffleWriteBytes.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Bytes that each task of a stage read that begins with these RDDs. */
  #bytesRead(readers: readonly Rdd[]): Column {
    const { shuffles, jobs, demands } = this.#workload;
    const group = this.#groups.get(readers[0].id);
    const stage = [...shuffles, ...jobs].find(({ rddId, demand }) =>
      this.#groups.get(rddId) === group && demands[demand].shuffleReadBytes.length === readers[0].numPartitions
    );
    return stage === undefined ? new Float64Array(0) : demands[stage.demand].shuffleReadBytes;
  }

  /** An RDD has as many partitions as its parents, a union as many as they have together; parents have lower ids. */
  #follow(rdd: Rdd): void {
    if (this.#shares.has(rdd.id)) return;
    const parents = rdd.dependencies.filter((dependency) => dependency.kind === "narrow");
    const shares = parents.map(({ rddId }) => this.#shares.get(rddId));
    const first = shares.find((parent) => parent !== undefined);
    if (first === undefined) return;
    if (parents.every(({ mapping }) => mapping === "oneToOne")) {
      this.#shares.set(rdd.id, first);
    } else if (parents.every(({ mapping }) => mapping === "range")) {
      const old = new Map(this.#workload.rdds.map(({ id, numPartitions }) => [id, numPartitions]));
      const n = parents.reduce((sum, { rddId }, i) => sum + (shares[i]?.length ?? old.get(rddId) ?? 0), 0);
      this.#shares.set(rdd.id, new Float64Array(n).fill(1 / n));
    }
  }

  #rdd(rdd: Rdd, old: ReadonlyMap<number, number>): Rdd {
    const shares = this.#shares.get(rdd.id);
    const dependencies = this.#dependencies(rdd, old);
    return { ...(shares === undefined ? rdd : spreadRdd(rdd, shares)), dependencies };
  }

  /** Unions: each parent begins where those before it end. */
  #dependencies(rdd: Rdd, old: ReadonlyMap<number, number>): readonly RddDependency[] {
    let outStart = 0;
    return rdd.dependencies.map((dependency) => {
      if (dependency.kind !== "narrow" || dependency.mapping !== "range") return dependency;
      const moved = { ...dependency, outStart };
      outStart += this.#shares.get(dependency.rddId)?.length ?? old.get(dependency.rddId) ?? 0;
      return moved;
    });
  }

  #shuffle(shuffle: Shuffle): Shuffle {
    const { planned } = this.#asked;
    if (shuffle.numReducers !== this.#recorded.planned || planned === this.#recorded.planned) return shuffle;
    return { ...shuffle, numReducers: planned, reducerShares: null };
  }

  /** An action on some partitions takes those that are left. */
  #job(job: Job): Job {
    const shares = this.#shares.get(job.rddId);
    if (shares === undefined || job.partitions === null) return job;
    const left = job.partitions.filter((partition) => partition < shares.length);
    return { ...job, partitions: left.length === 0 ? [0] : left };
  }

  #evidence(rddOfDemand: ReadonlyMap<number, number>): Evidence[] {
    const found: Evidence[] = [];
    const merged = this.#asked.enabled ? ", merged as adaptive execution would" : "";
    for (const [demand, rddId] of rddOfDemand) {
      const shares = this.#shares.get(rddId);
      if (shares === undefined) continue;
      const { name, recordedStageId } = this.#workload.demands[demand];
      found.push({
        subject: `stage ${recordedStageId ?? "?"} (${name})`,
        field: "tasks",
        grade: "assumed",
        how: `its work spread over ${shares.length} tasks${merged}`,
        wouldRecord: `a run with ${SHUFFLE_PARTITIONS}=${this.#asked.planned}`,
      });
    }
    return found;
  }
}

/** The shuffle that an exchange's RDD reads; undefined for other RDDs. */
function readShuffle(rdd: Rdd, shuffles: ReadonlyMap<number, Shuffle>): Shuffle | undefined {
  if (rdd.name !== "ShuffledRowRDD") return undefined;
  const dependency = rdd.dependencies.find(({ kind }) => kind === "shuffle");
  return dependency?.kind === "shuffle" ? shuffles.get(dependency.shuffleId) : undefined;
}

/** Without adaptive execution the stages of a query are submitted with its one job (DAGScheduler.submitStage). */
function withoutMapStageJobs(workload: Workload): Workload {
  const removed = new Map(workload.jobs.filter(({ kind }) => kind === "mapStage").map((job) => [job.id, job]));
  const afterJobs = (job: Job): number[] => {
    const after = new Set<number>();
    for (const id of job.afterJobs) {
      const gone = removed.get(id);
      for (const before of gone === undefined ? [id] : afterJobs(gone)) after.add(before);
    }
    return [...after];
  };
  return {
    ...workload,
    jobs: workload.jobs.filter(({ id }) => !removed.has(id)).map((job) => ({ ...job, afterJobs: afterJobs(job) })),
  };
}
