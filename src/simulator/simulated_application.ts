/**
 * A whole application on virtual time: the driver's scheduler, the executors with their memory, the tasks, the results.
 * What happens is told as the listener events of an event log.
 *
 * @module
 */
import { LimitError } from "../errors.ts";
import { Kernel } from "../kernel.ts";
import { OFF_HEAP, ON_HEAP } from "../kernel/types.ts";
import { Prng } from "../prng.ts";
import { SparkConf } from "../spark/conf.ts";
import type { EventSink } from "../spark/events.ts";
import { localMaster } from "../spark/master.ts";
import { taskTooLargeToSend } from "../spark/rpc_message.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import { ApplicationEvents } from "./application_events.ts";
import { BlockManagerMaster } from "./block_manager_master.ts";
import { Broadcasts } from "./broadcasts.ts";
import { ClusterBackend } from "./cluster_backend.ts";
import { type CostModel, DEFAULT_COST_MODEL } from "./cost_model.ts";
import { DriverSide } from "./driver_side.ts";
import { allocatesDynamically, DynamicAllocation } from "./dynamic_allocation.ts";
import type { SimulationEnvironment } from "./environment.ts";
import { EventQueue } from "./event_queue.ts";
import { Executor } from "./executor.ts";
import { executorMemoryLayout } from "./executor_memory.ts";
import { FaultInjector } from "./fault_injector.ts";
import { groupBy } from "./group_by.ts";
import { JobRunner } from "./job_runner.ts";
import { Lineage } from "./lineage.ts";
import { type ConsumerSettings, consumerSettings } from "./memory/consumers/mod.ts";
import type { SpillRules } from "./memory/spill_rules.ts";
import { MapOutputView } from "./map_output_view.ts";
import type { PlacedExecutor } from "./executor_places.ts";
import { RddGraph } from "./rdd_graph.ts";
import { type ExecutorLossReason, lossMessage } from "./scheduler/task_end_reason.ts";
import { type SimulationSettings, simulationSettings } from "./settings.ts";
import { DEFAULT_SIMULATION_LIMITS, type SimulationLimits, type SimulationOptions } from "./simulation_options.ts";
import { StageBook } from "./stage_book.ts";
import { StatusMessages } from "./status_messages.ts";
import { Task } from "./task.ts";
import { TaskRunner } from "./task_runner.ts";
import { refuseUnsupported, unsupportedSettings } from "./unsupported_settings.ts";
import { Ticks } from "./ticks.ts";
import { Timers } from "./timers.ts";
import { UnmanagedMemoryPoller } from "./unmanaged_memory.ts";
import type { Broadcast, ExecutorSpec, Fault, Workload } from "./workload.ts";

/** Virtual time begins here (ms since the epoch), so that a simulated log has plausible dates: 2020-01-01. */
export const SIMULATION_EPOCH_MS = 1_577_836_800_000;

/** Kinds of events in the queue. */
const enum Kind {
  /** The time a task slept is over. */
  Task,
  /** A status update arrives at the driver. */
  Status,
  /** A launched task arrives at its executor. */
  Launch,
  /** Wanted offers are due. */
  Revive,
  Timer,
}

/** The parts of an application and the queue of its events. */
export class SimulatedApplication implements SimulationEnvironment {
  readonly workload: Workload;
  readonly conf: SparkConf;
  readonly sink: EventSink;
  readonly cost: CostModel;
  readonly settings: SimulationSettings;
  readonly lineage: Lineage;
  readonly master: BlockManagerMaster;
  readonly executors: Executor[] = [];
  readonly mapOutputs: MapOutputView;
  readonly broadcasts: Broadcasts;
  readonly consumerSettings: ConsumerSettings;
  /** Events of the queue that have been handled. */
  eventsHandled = 0;
  /** Steps within events whose number the workload decides; they count towards the budget of events. */
  #work = 0;
  readonly #queue = new EventQueue();
  readonly #timers = new Timers(this.#queue, Kind.Timer);
  readonly #kernel: Kernel;
  readonly #prng: Prng;
  readonly #limits: SimulationLimits;
  /** What persist() asks for. */
  readonly #persisted: readonly (StorageLevel | null)[];
  /** What is in force now. */
  readonly #levels: (StorageLevel | null)[];
  /** Dense indexes of the RDDs that are persisted before a job. */
  readonly #persists: ReadonlyMap<number | undefined, readonly number[]>;
  /** Dense indexes of the RDDs that are unpersisted before a job. */
  readonly #unpersists: ReadonlyMap<number | null, readonly number[]>;
  /** Broadcasts that executors drop before a job. */
  readonly #removals: ReadonlyMap<number | undefined, readonly Broadcast[]>;
  readonly #memoryStates: boolean;
  readonly #statuses: StatusMessages;
  readonly #runner: TaskRunner;
  readonly #backend: ClusterBackend;
  readonly #driverSide: DriverSide;
  readonly #jobs: JobRunner;
  readonly #faults: FaultInjector;
  readonly #application: ApplicationEvents;
  readonly #ticks: Ticks;
  readonly #unmanaged: UnmanagedMemoryPoller;
  /** Null: executors come and go as the cluster says. */
  readonly #allocation: DynamicAllocation | null;
  #ended = false;

  /** @throws {InputError} for a workload or settings that cannot be simulated, with Spark's message where it refuses them. */
  constructor(workload: Workload, options: SimulationOptions) {
    this.workload = workload;
    this.conf = options.conf;
    this.sink = options.sink;
    this.cost = options.cost ?? DEFAULT_COST_MODEL;
    this.#limits = { ...DEFAULT_SIMULATION_LIMITS, ...options.limits };
    this.#memoryStates = options.memoryStates ?? false;
    this.#kernel = options.kernel ?? Kernel.create();
    this.#prng = new Prng(options.seed ?? workload.seed);
    this.#queue.startAt(SIMULATION_EPOCH_MS);
    refuseUnsupported(options.conf, SparkConf.from(workload.conf, workload.sparkVersion || undefined));
    this.settings = simulationSettings(options.conf, workload.cluster.executors[0]?.cores ?? 1, workload.pools);
    this.consumerSettings = consumerSettings(options.conf);
    this.lineage = new Lineage(workload);
    this.master = new BlockManagerMaster(workload.rdds);
    this.#persisted = workload.rdds.map(({ storageLevel }) => storageLevel && (options.storageLevel ?? storageLevel));
    this.#levels = workload.rdds.map(({ persistBeforeJob }, i) =>
      persistBeforeJob === undefined ? this.#persisted[i] : null
    );
    this.#persists = groupBy(workload.rdds.keys(), (rdd) => workload.rdds[rdd].persistBeforeJob);
    this.#unpersists = groupBy(workload.rdds.keys(), (rdd) => workload.rdds[rdd].unpersistBeforeJob);
    this.#removals = groupBy(workload.broadcasts, ({ removeBeforeJob }) => removeBeforeJob);
    this.#application = new ApplicationEvents(this);
    this.#faults = new FaultInjector({
      workload,
      after: (delayMs, work) => this.after(delayMs, work),
      loseExecutor: (id, loss) => this.#loseExecutor(id, loss),
    });
    this.#statuses = new StatusMessages(this.#queue, { kind: Kind.Status, latencyMs: this.cost.messageMs });
    const { settings } = this;
    this.#runner = new TaskRunner(this, { settings, queue: this.#queue, kind: Kind.Task, host: this.#statuses });
    this.#backend = this.#makeBackend();
    this.#allocation = allocatesDynamically(workload.cluster, options.conf) ? this.#makeAllocation() : null;
    this.#driverSide = this.#makeDriverSide();
    const { driver } = this.#driverSide;
    this.mapOutputs = new MapOutputView(workload, {
      tracker: driver.tracker,
      executors: this.executors,
      externalShuffleService: settings.scheduler.externalShuffleService,
    });
    this.broadcasts = new Broadcasts(this, this.#limits.maxBroadcastPieces);
    this.#jobs = this.#makeJobs();
    this.#unmanaged = new UnmanagedMemoryPoller({
      conf: this.conf,
      sink: this.sink,
      recorded: workload.cluster.unmanagedMemory ?? [],
      elapsedMs: () => this.elapsedMs,
      after: (delayMs, work) => this.after(delayMs, work),
    });
    this.#ticks = new Ticks({
      queue: this.#queue,
      settings,
      driver,
      isLocal: localMaster(workload.cluster.master) !== null,
      after: (delayMs, work) => this.after(delayMs, work),
      makeOffers: () => this.#backend.makeOffers(),
    });
    this.#start();
  }

  /**
   * Handles up to `maxEvents` events.
   *
   * @returns true when the application has ended, or nothing more can happen.
   * @throws {LimitError} `limit.events`, `limit.virtualTime` when a limit of the run is crossed.
   */
  run(maxEvents: number): boolean {
    for (let i = 0; i < maxEvents; i++) {
      if (this.#ended) return this.#finish();
      if (!this.#queue.next()) return this.#stuck();
      this.#checkLimits();
      this.#handle(this.#queue.kind, this.#queue.subject);
      if (this.#memoryStates) this.#tellMemory();
    }
    return false;
  }

  /** Calls back after so many ms of virtual time. */
  after(delayMs: number, work: () => void): void {
    this.#timers.after(delayMs, work);
  }

  now(): number {
    return this.#queue.timeMs;
  }

  /** Virtual time since the start, ms. */
  get elapsedMs(): number {
    return this.#queue.timeMs - SIMULATION_EPOCH_MS;
  }

  random(n: number): number {
    return this.#prng.integer(n);
  }

  storageLevel(rdd: number): StorageLevel | null {
    return this.#levels[rdd];
  }

  faultsOf(demand: number): readonly Fault[] {
    return this.#faults.of(demand);
  }

  slowness(host: string): number {
    return this.#faults.slowness(host);
  }

  get broadcastBlockSize(): number {
    return this.settings.broadcastBlockSize;
  }

  get spillRules(): SpillRules {
    return this.conf.rules.spilling;
  }

  get tracksUpdatedBlocks(): boolean {
    return this.settings.tracksUpdatedBlocks;
  }

  get recordsPeaksByMode(): boolean {
    return this.conf.rules.spilling.recordsPeaksByMode;
  }

  canCommit({ id }: Task): boolean {
    const attempt = { stageAttempt: id.stageAttemptId, taskAttempt: id.attemptNumber };
    return this.#driverSide.driver.commitCoordinator.canCommit(id.stageId, id.partition, attempt);
  }

  resumeWaiting(task: Task, granted: number): void {
    // The grant comes in the middle of another task's call: it is acted upon when that is over.
    this.after(0, () => this.#runner.resumeWaiting(task, granted));
  }

  resumeReader(task: Task): void {
    this.#queue.schedule(this.now(), Kind.Task, task.id.tid);
  }

  #handle(kind: Kind, subject: number): void {
    switch (kind) {
      case Kind.Task:
        this.#runner.resume(subject);
        break;
      case Kind.Status: {
        const task = this.#statuses.arrived(subject);
        this.#driverSide.statusArrived(task);
        this.#backend.release(task.executor.index);
        break;
      }
      case Kind.Launch:
        this.#startTask(subject);
        break;
      case Kind.Revive:
        this.#backend.revive();
        break;
      case Kind.Timer:
        this.#timers.fire(subject);
    }
  }

  /** What submits the workload's jobs. */
  #makeJobs(): JobRunner {
    const { workload, lineage } = this;
    const { driver } = this.#driverSide;
    return new JobRunner({
      workload,
      lineage,
      graph: new RddGraph(workload, {
        lineage,
        tracker: driver.tracker,
        hosts: driver.hosts,
        isPersisted: (rdd) => this.#levels[rdd] !== null,
        retriesOnChecksumMismatch: this.settings.retriesOnChecksumMismatch,
      }),
      driver,
      faults: this.#faults,
      sink: this.sink,
      after: (delayMs, work) => this.after(delayMs, work),
      beforeJob: (jobId) => this.#beforeJob(jobId),
      applicationEnded: () => this.after(this.cost.applicationEndMs, () => this.#ended = true),
    });
  }

  #makeBackend(): ClusterBackend {
    const { settings, executors } = this;
    const driver = () => this.#driverSide.driver;
    return new ClusterBackend({
      get driver() {
        return driver();
      },
      executors,
      cpusPerTask: settings.scheduler.cpusPerTask,
      launch: (tid) => this.#queue.schedule(this.now() + this.cost.messageMs, Kind.Launch, tid),
      sendKill: (tid, reason) => this.after(this.cost.messageMs, () => this.#runner.kill(tid, reason)),
      scheduleRevive: () => this.#queue.schedule(this.now(), Kind.Revive, 0),
      tooLargeToSend: (tid) => this.#tooLargeToSend(tid),
      random: (n) => this.random(n),
    });
  }

  #tooLargeToSend(taskId: number): string | null {
    const side = this.#driverSide;
    const size = side.demandOf(taskId).serializedTaskBytes?.[side.partitionOf(taskId)] ?? null;
    if (size === null) return null;
    return taskTooLargeToSend({ taskId, index: side.infos.index[taskId], size }, this.conf);
  }

  #makeDriverSide(): DriverSide {
    const book = new StageBook(this.workload, this.lineage, () => this.#jobs);
    return new DriverSide({
      workload: this.workload,
      settings: this.settings,
      sink: this.sink,
      cost: this.cost,
      lineage: this.lineage,
      master: this.master,
      executors: this.executors,
      runner: this.#runner,
      book,
      faults: this.#faults,
      application: this.#application,
      backend: this.#backend,
      listener: (events) => this.#allocation?.listener(events) ?? events,
      jobs: () => this.#jobs,
      mapOutputs: () => this.mapOutputs,
      storageLevel: (rdd) => this.storageLevel(rdd),
      now: () => this.now(),
      after: (delayMs, work) => this.after(delayMs, work),
    });
  }

  #start(): void {
    this.#application.started();
    this.#unmanaged.start();
    for (const { key, value, what } of unsupportedSettings(this.conf)) {
      const message = `${key}=${value} was recorded: ${what} in the simulation`;
      this.sink.event({ kind: "warning", code: "simulation.unsupported", message, count: 1 });
    }
    if (this.#allocation !== null) this.#allocation.start();
    else this.#planExecutors();
    this.#faults.start();
    this.#ticks.start();
    this.#jobs.start();
  }

  #makeAllocation(): DynamicAllocation {
    const allocation = new DynamicAllocation({
      conf: this.conf,
      cluster: this.workload.cluster,
      // Not a lower limit of this run: what comes after that is to cross it.
      horizonMs: Math.max(DEFAULT_SIMULATION_LIMITS.maxVirtualMs, this.#limits.maxVirtualMs),
      driver: () => this.#driverSide.driver,
      now: () => this.now(),
      after: (delayMs, work) => this.after(delayMs, work),
      somethingWaits: () => this.#queue.length > this.#ticks.pending,
      hasCachedBlocks: (executor) => this.master.hasCachedBlocks(executor),
      start: (placed, delayMs) => this.#startExecutor(placed, delayMs),
      kill: (executor) => this.#killExecutor(this.executors[executor]),
    });
    this.master.blocksChanged = (executor) => allocation.blocksChanged(executor);
    return allocation;
  }

  /** The executors of a cluster in which none comes or goes by the backlog. */
  #planExecutors(): void {
    const { executors, master } = this.workload.cluster;
    if (this.conf.getBoolean("spark.dynamicAllocation.enabled") && localMaster(master) === null) {
      const message =
        "spark.dynamicAllocation.enabled: the executors come and go as they were recorded or as the spec " +
        "says, not by backlog and idle time; a changed spark.dynamicAllocation setting makes them follow it";
      this.sink.event({ kind: "warning", code: "simulation.dynamicAllocation", message, count: 1 });
    }
    for (const spec of executors) this.#plan(spec);
  }

  #startExecutor(placed: PlacedExecutor, delayMs: number): void {
    const spec = { ...placed, addedMs: 0, removedMs: null, removedReason: null };
    this.after(delayMs, () => this.#register(this.#makeExecutor(spec)));
  }

  /** The driver has an executor killed: no task is offered to it any more, and two messages later it is gone. */
  #killExecutor(executor: Executor): void {
    this.#backend.unregister(executor.index);
    this.after(this.cost.messageMs, () => this.#loseExecutor(executor.id, KILLED_BY_DRIVER));
  }

  /** An executor comes at its time, and goes. */
  #plan(spec: ExecutorSpec): void {
    const executor = this.#makeExecutor(spec);
    this.after(Math.max(0, spec.addedMs), () => this.#register(executor));
    if (spec.removedMs === null) return;
    this.after(spec.removedMs, () =>
      this.#loseExecutor(spec.id, {
        reason: spec.removedReason ?? "Executor was removed",
        workerLost: false,
        exitCausedByApp: false,
        replacedAfterMs: null,
      }));
  }

  #makeExecutor(spec: ExecutorSpec): Executor {
    const layout = executorMemoryLayout(spec, this.workload, this.conf);
    const executor = new Executor({
      index: this.executors.length,
      id: spec.id,
      host: spec.host,
      cores: spec.cores,
      memory: this.#kernel.createExecutor(layout.kernel),
      maxOnHeapMemory: layout.kernel.maxHeapMemory,
      maxOffHeapMemory: layout.kernel.maxOffHeapMemory ?? 0,
      tungstenMemoryMode: layout.tungstenMemoryMode,
      pageSizeBytes: layout.pageSizeBytes,
      unroll: this.settings.unroll,
      rules: this.conf.rules.memory,
      master: this.master,
      sink: this.sink,
      cost: this.cost,
      now: () => this.now(),
    });
    executor.alive = false;
    this.executors.push(executor);
    this.#driverSide.driver.executors.idOf(spec.id);
    return executor;
  }

  #register(executor: Executor): void {
    executor.alive = true;
    this.#unmanaged.executorStarted(executor);
    this.#application.executorAdded(executor);
    this.#allocation?.executorAdded(executor.index);
    this.#backend.register(executor);
  }

  #startTask(tid: number): void {
    const { driver } = this.#driverSide;
    const executor = this.executors[driver.infos.executor[tid]];
    if (!executor.alive) return;
    driver.taskScheduler.taskRunning(tid);
    this.#runner.start(new Task(this.#driverSide.identity(tid), executor, this));
    this.#faults.taskStarted(executor.id, executor.tasksStarted);
  }

  /** An executor's process ends; the driver hears of it a message later. */
  #loseExecutor(id: string, loss: ExecutorLoss): void {
    const executor = this.executors.find((candidate) => candidate.id === id && candidate.alive);
    if (executor === undefined) return;
    executor.alive = false;
    this.#runner.lose(executor);
    executor.blocks.lose();
    this.mapOutputs.died(executor.index);
    executor.memory.destroy();
    this.after(this.cost.messageMs, () => this.#executorGone(executor, loss));
    if (loss.replacedAfterMs !== null && this.#allocation === null) this.#replace(executor, loss.replacedAfterMs);
  }

  #executorGone(executor: Executor, loss: ExecutorLoss): void {
    const { driver } = this.#driverSide;
    this.#backend.unregister(executor.index);
    const reason: ExecutorLossReason = loss === KILLED_BY_DRIVER ? { kind: "killed" } : {
      kind: "processLost",
      message: loss.reason,
      workerLost: loss.workerLost,
      causedByApp: loss.exitCausedByApp,
    };
    driver.taskScheduler.executorLost(executor.index, reason);
    driver.drain();
    this.#application.executorRemoved(executor, lossMessage(reason));
    this.#allocation?.executorRemoved(executor.index, executor.id);
  }

  #replace(lost: Executor, delayMs: number): void {
    const spec = this.workload.cluster.executors.find(({ id }) => id === lost.id) ?? this.workload.cluster.executors[0];
    const next = Math.max(-1, ...this.executors.map(({ id }) => Number(id)).filter(Number.isInteger)) + 1;
    const executor = this.#makeExecutor({ ...spec, id: String(next), host: lost.host, cores: lost.cores });
    this.after(delayMs, () => this.#register(executor));
  }

  /** What the program does between jobs: persist() and unpersist() of RDDs, unpersist() and destroy() of broadcasts. */
  #beforeJob(jobId: number): void {
    for (const { id } of this.#removals.get(jobId) ?? []) {
      this.broadcasts.remove(id, this.executors.filter(({ alive }) => alive));
    }
    for (const rdd of this.#persists.get(jobId) ?? []) this.#levels[rdd] = this.#persisted[rdd];
    for (const rdd of this.#unpersists.get(jobId) ?? []) {
      if (this.#levels[rdd] === null) continue;
      this.#levels[rdd] = null;
      for (const executor of this.executors) if (executor.alive) executor.blocks.removeRdd(rdd);
      this.sink.event({ kind: "unpersistRdd", rddId: this.workload.rdds[rdd].id });
    }
  }

  #tellMemory(): void {
    for (const executor of this.executors) {
      if (!executor.stateChanged || !executor.alive) continue;
      executor.stateChanged = false;
      this.sink.event({
        kind: "memoryState",
        time: this.now(),
        executorId: executor.id,
        onHeap: executor.poolState(ON_HEAP),
        offHeap: executor.maxOffHeapMemory > 0 ? executor.poolState(OFF_HEAP) : null,
      });
    }
  }

  /** Events that have been handled and the steps within them that count: what the budget of events is held against. */
  get stepsTaken(): number {
    return this.eventsHandled + this.#work;
  }

  countWork(steps: number): void {
    this.#work += steps;
    if (this.stepsTaken > this.#limits.maxEvents) throw tooManyEvents(this.#limits.maxEvents);
  }

  #checkLimits(): void {
    const { maxEvents, maxVirtualMs } = this.#limits;
    if (++this.eventsHandled + this.#work > maxEvents) throw tooManyEvents(maxEvents);
    if (this.elapsedMs > maxVirtualMs) {
      throw new LimitError("limit.virtualTime", `Cannot go on: must take at most ${maxVirtualMs} ms of virtual time`, {
        parameters: { limit: maxVirtualMs },
      });
    }
  }

  /** Nothing is left to happen, though jobs run: the application hangs, as the real one would. */
  #stuck(): boolean {
    const message = this.#backend.numExecutors === 0
      ? "Initial job has not accepted any resources; check your cluster UI to ensure that workers are registered and " +
        "have sufficient resources"
      : "Jobs wait for ever: no task can be launched or go on";
    this.sink.event({ kind: "warning", code: "simulation.stuck", message, count: 1 });
    return this.#finish();
  }

  #finish(): boolean {
    this.#application.ended();
    return true;
  }
}

/** How an executor goes. */
interface ExecutorLoss {
  readonly reason: string;
  readonly workerLost: boolean;
  readonly exitCausedByApp: boolean;
  readonly replacedAfterMs: number | null;
}

const KILLED_BY_DRIVER: ExecutorLoss = Object.freeze({
  reason: lossMessage({ kind: "killed" }),
  workerLost: false,
  exitCausedByApp: false,
  replacedAfterMs: null,
});

function tooManyEvents(limit: number): LimitError {
  return new LimitError("limit.events", `Cannot go on: must take at most ${limit} events`, { parameters: { limit } });
}
