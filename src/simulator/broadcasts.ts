/**
 * Broadcast variables as tasks read them (TorrentBroadcast, Spark 2.4.0): the pieces and the value are blocks of the
 * reading executor's storage pool.
 *
 * @module
 */
import { LimitError } from "../errors.ts";
import { STORAGE_LEVELS } from "../spark/storage_level.ts";
import type { SimulationEnvironment } from "./environment.ts";
import type { Executor } from "./executor.ts";
import type { Broadcast } from "./workload.ts";

/** TorrentBroadcast.blockifyObject: pieces of spark.broadcast.blockSize. */
function piecesOf({ pieceBytes }: Broadcast, broadcastBlockSize: number): number {
  return Math.max(1, Math.ceil(pieceBytes / broadcastBlockSize));
}

function checkPieces({ workload, broadcastBlockSize }: SimulationEnvironment, limit: number): void {
  const received = workload.broadcasts.reduce((sum, broadcast) => sum + piecesOf(broadcast, broadcastBlockSize), 0);
  if (received <= limit) return;
  throw new LimitError(
    "limit.broadcastPieces",
    `Cannot simulate: must have at most ${limit} pieces of broadcasts of spark.broadcast.blockSize ` +
      `(${broadcastBlockSize} bytes): received ${received}`,
    { parameters: { limit, received, blockSize: broadcastBlockSize } },
  );
}

/** The blocks of all broadcasts; ids of blocks are the same on every executor. */
export class Broadcasts {
  readonly #environment: SimulationEnvironment;
  readonly #byId = new Map<
    number,
    { readonly broadcast: Broadcast; readonly value: number; readonly pieces: number[] }
  >();

  /** @throws {LimitError} `limit.broadcastPieces` for more pieces in all. */
  constructor(environment: SimulationEnvironment, maxPieces: number) {
    this.#environment = environment;
    checkPieces(environment, maxPieces);
    for (const broadcast of environment.workload.broadcasts) this.#add(broadcast);
  }

  /** An executor's task reads a broadcast. Returns the time it takes, ms. */
  read(id: number, executor: Executor, taskAttemptId: number): number {
    const found = this.#byId.get(id);
    if (found === undefined) return 0;
    const { broadcast, value, pieces } = found;
    const { blocks } = executor;
    if (blocks.readLocal(value) === "memory") {
      blocks.unlock(value);
      return 0;
    }
    const { cost, broadcastBlockSize } = this.#environment;
    this.#environment.countWork(pieces.length);
    let fetched = 0;
    for (const [i, piece] of pieces.entries()) {
      if (blocks.readLocal(piece) === "memory") {
        blocks.unlock(piece);
        continue;
      }
      const size = Math.min(broadcastBlockSize, broadcast.pieceBytes - i * broadcastBlockSize);
      if (blocks.entry(piece) === undefined) {
        blocks.putBytes(piece, size, STORAGE_LEVELS.MEMORY_AND_DISK_SER);
        fetched += size;
      }
    }
    const { valueBytes, pieceBytes } = broadcast;
    if (blocks.entry(value) === undefined) {
      blocks.putSingle(value, valueBytes, STORAGE_LEVELS.MEMORY_AND_DISK, taskAttemptId, pieceBytes);
    }
    executor.touch();
    const networkMs = fetched > 0 ? cost.messageMs + fetched / cost.networkBytesPerMs : 0;
    return networkMs + pieceBytes / cost.serializationBytesPerMs + blocks.takeIoMs();
  }

  /** Takes it from executors, which tell each block (BlockManager.removeBroadcast with tellMaster). */
  remove(id: number, executors: readonly Executor[]): void {
    const found = this.#byId.get(id);
    if (found === undefined) return;
    for (const { blocks } of executors) {
      blocks.removeBlock(found.value);
      for (const piece of found.pieces) blocks.removeBlock(piece, true);
    }
  }

  #add(broadcast: Broadcast): void {
    const { master, broadcastBlockSize } = this.#environment;
    const count = piecesOf(broadcast, broadcastBlockSize);
    const pieces = Array.from({ length: count }, (_, i) => master.newBlock(`broadcast_${broadcast.id}_piece${i}`));
    this.#byId.set(broadcast.id, { broadcast, value: master.newBlock(`broadcast_${broadcast.id}`), pieces });
  }
}
