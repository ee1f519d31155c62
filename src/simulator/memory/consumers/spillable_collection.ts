/**
 * Collections of RDD jobs that spill by an estimate of their size: the arithmetic of
 * org.apache.spark.util.collection.Spillable.
 *
 * @module
 */
import { INT_MAX } from "../../../spark/conf_entry.ts";
import { FAILED, ON_HEAP } from "../execution_memory.ts";
import type { MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { type CollectionSize, EvenSize, MapSize } from "./collection_size.ts";
import { SampledBuffer } from "./sampled_buffer.ts";
import { GeneratedSteps, type Steps } from "./generated_steps.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/** Records between two looks at the size. */
const CHECK_PERIOD = 32;

/** Settings of a spillable collection. */
export interface SpillableSettings {
  /** spark.shuffle.spill.initialMemoryThreshold: bytes that are never asked for; 5 MiB by default. */
  readonly initialMemoryThreshold?: number;
  /** spark.shuffle.spill.numElementsForceSpillThreshold: records after which it spills anyway. */
  readonly numElementsForceSpillThreshold?: number;
}

/** What sets the kinds of spillable collection apart. */
export interface SpillableKind {
  /** The collection is looked at after a record went in (ExternalSorter), not before the next one does. */
  readonly checksAfterInsert: boolean;
  /** It can be made to spill while it is filled (ExternalAppendOnlyMap, when it is not empty). */
  readonly spillsForOthersWhileFilled: boolean;
  /** It can be made to spill while it is read. */
  readonly spillsForOthersWhileRead: boolean;
}

/**
 * Base of ExternalAppendOnlyMap and ExternalSorter. Always on the heap.
 *
 * The first 5 MiB are free. Every 32 records, when the estimate has reached the threshold, it asks for twice the estimate
 * less the threshold, adds what it gets to the threshold, and spills all of itself when that was not enough. What it
 * counts as spilled is the estimate; what it gives back is the threshold less the first 5 MiB. When another consumer
 * makes it spill (only with Tungsten memory on the heap) it counts what it gives back. The task's metrics are taken when
 * it is filled: what happens while it is read is not counted.
 */
export abstract class SpillableCollection extends GeneratedSteps {
  readonly #kind: SpillableKind;
  readonly #initialThreshold: number;
  readonly #forceThreshold: number;
  readonly #size: CollectionSize;
  #threshold: number;
  /** Records in before the collection was last emptied. */
  #emptiedAt = 0;
  /** Records in before its last own spill, from which the 32 are counted. */
  #countedFrom = 0;
  /** Records in when it was last looked at. */
  #inserted = 0;
  #peak = 0;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    kind: SpillableKind,
    options: { host?: ConsumerHost; settings?: SpillableSettings; size?: CollectionSize } = {},
  ) {
    super(taskMemoryManager, ON_HEAP, input, options);
    this.#kind = kind;
    this.#initialThreshold = options.settings?.initialMemoryThreshold ?? 5 * 2 ** 20;
    // Looked at after a record is in: below 0 spills after each, as 0 does.
    this.#forceThreshold = Math.max(0, options.settings?.numElementsForceSpillThreshold ?? INT_MAX);
    this.#threshold = this.#initialThreshold;
    this.#size = options.size ?? sizeOf(input);
  }

  override get peakExecutionMemory(): number {
    return this.#peak;
  }

  protected override *run(): Steps {
    const { records } = this.input;
    for (;;) {
      const check = this.#nextCheck();
      yield this.before(this.#placeOf(check));
      // It may have been made to spill for another consumer meanwhile, which moves the next look.
      if (check !== this.#nextCheck()) continue;
      if (check > this.#lastCheck) break;
      this.#inserted = check;
      if (!(yield* this.#maybeSpill())) return false;
    }
    this.#notePeak(records);
    this.#inserted = records;
    this.phase = "read";
    yield this.before(1);
    this.#releaseMemory();
    return true;
  }

  override spill(_size: number, trigger: MemoryConsumer): number {
    if (trigger === this || this.taskMemoryManager.tungstenMemoryMode !== ON_HEAP) return 0;
    return this.phase === "fill" ? this.#spillWhileFilled(trigger) : this.#spillWhileRead();
  }

  /** Records after which the size is looked at last. */
  get #lastCheck(): number {
    return this.input.records - (this.#kind.checksAfterInsert ? 0 : 1);
  }

  /** Where in filling a look comes; without one, filling ends at 1. */
  #placeOf(check: number): number {
    return check > this.#lastCheck ? 1 : check / this.input.records;
  }

  /**
   * Records in at the next look that has consequences: the first multiple of 32 since its own last spill at which the
   * estimate has reached the threshold, or the first record above the number that forces a spill.
   */
  #nextCheck(): number {
    const forced = this.#countedFrom + this.#forceThreshold + 1;
    if (this.#inserted > this.#lastCheck) return Infinity;
    const from = Math.max(this.#inserted + 1, this.#emptiedAt);
    const reached = this.#size.recordsUntil(
      this.#threshold,
      from - this.#emptiedAt,
      this.input.records - this.#emptiedAt,
      this.#emptiedAt,
    );
    if (reached === Infinity) return forced;
    const first = this.#emptiedAt + reached;
    const periods = Math.ceil((first - this.#countedFrom) / CHECK_PERIOD);
    return Math.min(forced, this.#countedFrom + periods * CHECK_PERIOD);
  }

  *#maybeSpill(): Steps {
    const estimate = this.#estimate(this.#inserted);
    this.#notePeak(this.#inserted);
    let mustSpill = this.#inserted - this.#countedFrom > this.#forceThreshold;
    if ((this.#inserted - this.#countedFrom) % CHECK_PERIOD === 0 && estimate >= this.#threshold) {
      const granted = yield* this.ended(this.acquireMemory(2 * estimate - this.#threshold));
      if (granted === FAILED) return false;
      this.#threshold += granted;
      mustSpill ||= estimate >= this.#threshold;
    }
    if (!mustSpill) return true;
    this.countSpill(this, estimate, this.#diskBytes(estimate));
    // Writing takes its time before the memory is given back.
    yield this.before(this.nextAt);
    this.#countedFrom = this.#inserted;
    this.#emptiedAt = this.#inserted;
    this.#releaseMemory();
    return true;
  }

  /** forceSpill while records go in; the 32 are not counted anew. */
  #spillWhileFilled(trigger: MemoryConsumer): number {
    const inserted = Math.max(this.#inserted, Math.floor(this.position() * this.input.records));
    if (!this.#kind.spillsForOthersWhileFilled || inserted <= this.#emptiedAt) return 0;
    const estimate = this.#estimate(inserted);
    this.#notePeak(inserted);
    const freed = this.#threshold - this.#initialThreshold;
    this.#inserted = inserted;
    this.#emptiedAt = inserted;
    this.countSpill(trigger, freed, this.#diskBytes(estimate));
    this.#releaseMemory();
    this.nextAt = this.#placeOf(this.#nextCheck());
    return freed;
  }

  #spillWhileRead(): number {
    const freed = this.#threshold - this.#initialThreshold;
    if (!this.#kind.spillsForOthersWhileRead || freed === 0) return 0;
    this.#releaseMemory();
    return freed;
  }

  #releaseMemory(): void {
    this.freeMemory(this.#threshold - this.#initialThreshold);
    this.#threshold = this.#initialThreshold;
  }

  #estimate(inserted: number): number {
    return Math.trunc(this.#size.bytesAfter(inserted - this.#emptiedAt, this.#emptiedAt));
  }

  #notePeak(inserted: number): void {
    this.#peak = Math.max(this.#peak, this.#estimate(inserted));
  }

  #diskBytes(estimate: number): number {
    return Math.round(estimate * (this.input.diskBytesPerByte ?? 1));
  }
}

/** As close as what is known of it allows. */
function sizeOf(input: ConsumerInput): CollectionSize {
  const { records, bytes, keys, parameters } = input;
  if (parameters?.buffer === 1) return SampledBuffer.ofTotal(records, bytes);
  if (keys === undefined) return new EvenSize(records, bytes);
  return new MapSize({ records, bytes, keys: Math.min(keys, records), keyShare: parameters?.keyShare ?? 1 });
}
