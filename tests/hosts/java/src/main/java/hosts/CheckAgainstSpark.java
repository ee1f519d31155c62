package hosts;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.spark.SparkConf;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializerManager;

import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockInfo;
import org.apache.spark.storage.BlockInfoManager;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.storage.memory.BlockEvictionHandler;
import org.apache.spark.storage.memory.MemoryStore;
import org.apache.spark.util.io.ChunkedByteBuffer;
import scala.Function0;
import scala.Option;
import scala.reflect.ClassTag;
import scala.util.Either;

/** The kernel beside Spark 2.4.0's own memory manager and block store: CheckAgainstSpark KERNEL.WASM SEED OPERATIONS */
public final class CheckAgainstSpark {
  private static final long HEAP = 100_000;
  private static final ClassTag<Object> ANY = scala.reflect.ClassTag$.MODULE$.Any();

  private final BlockInfoManager blocks = new BlockInfoManager();
  private final UnifiedMemoryManager manager;
  private final MemoryStore store;

  private CheckAgainstSpark() {
    SparkConf conf = new SparkConf(false).set("spark.memory.offHeap.size", "0");
    manager = new UnifiedMemoryManager(conf, HEAP, HEAP / 2, 1);
    MemoryStore[] made = new MemoryStore[1];
    BlockEvictionHandler handler = new BlockEvictionHandler() {
      @Override
      public <T> StorageLevel dropFromMemory(BlockId block, Function0<Either<Object, ChunkedByteBuffer>> data, ClassTag<T> tag) {
        made[0].remove(block);
        return StorageLevel.NONE();
      }
    };
    store = new MemoryStore(conf, blocks, new SerializerManager(new JavaSerializer(conf), conf), manager, handler);
    made[0] = store;
    manager.setMemoryStore(store);
  }

  private boolean putBytes(BlockId block, int size) {
    blocks.lockNewBlockForWriting(block, new BlockInfo(StorageLevel.MEMORY_ONLY_SER(), ANY, false));
    Function0<ChunkedByteBuffer> bytes = () -> new ChunkedByteBuffer(ByteBuffer.allocate(size));
    boolean stored = store.putBytes(block, size, MemoryMode.ON_HEAP, bytes, ANY);
    if (stored) blocks.unlock(block, Option.empty());
    else blocks.removeBlock(block);
    return stored;
  }

  private boolean remove(BlockId block) {
    if (blocks.get(block).isEmpty()) return store.remove(block);
    blocks.lockForWriting(block, false);
    boolean removed = store.remove(block);
    blocks.removeBlock(block);
    return removed;
  }

  /** Storage pool and what is used of it, execution pool and what is used of it, blocks. */
  private double[] state(int numBlocks) {
    int stored = 0;
    for (int i = 0; i < numBlocks; i++) if (store.contains(BlockId.apply("rdd_" + i % 7 + "_" + i))) stored++;
    return new double[] {
      manager.onHeapStorageMemoryPool().poolSize(), manager.onHeapStorageMemoryPool().memoryUsed(),
      manager.onHeapExecutionMemoryPool().poolSize(), manager.onHeapExecutionMemoryPool().memoryUsed(), stored,
    };
  }

  public static void main(String[] arguments) {
    LogManager.getRootLogger().setLevel(Level.ERROR);
    Kernel kernel = new Kernel(Path.of(arguments[0]));
    Random random = new Random(Long.parseLong(arguments[1]));
    CheckAgainstSpark spark = new CheckAgainstSpark();
    double executor = kernel.function("createExecutor").call(HEAP, HEAP / 2, 0, 0, 0);
    int numBlocks = 40;
    for (int i = 0; i < numBlocks; i++) kernel.function("declareBlock").call(executor, i % 7);
    int task = 0;
    int operations = Integer.parseInt(arguments[2]);
    for (int i = 0; i < operations; i++) {
      int block = random.nextInt(numBlocks);
      BlockId id = BlockId.apply("rdd_" + block % 7 + "_" + block);
      int size = random.nextInt(i % 10 == 0 ? 60_000 : 12_000);
      double given;
      double expected;
      // one task at a time, so that none waits
      switch (random.nextInt(6)) {
        case 0, 1 -> {
          if (spark.store.contains(id)) continue;
          given = kernel.function("putBytes").call(executor, block, size, 0, 0);
          expected = spark.putBytes(id, size) ? 1 : 0;
        }
        case 2 -> {
          given = kernel.function("get").call(executor, block);
          expected = spark.store.getBytes(id).isDefined() ? 1 : 0;
        }
        case 3 -> {
          given = kernel.function("remove").call(executor, block);
          expected = spark.remove(id) ? 1 : 0;
        }
        case 4 -> {
          given = kernel.function("acquireExecutionMemory").call(executor, size, task, 0);
          expected = spark.manager.acquireExecutionMemory(size, task, MemoryMode.ON_HEAP);
        }
        default -> {
          given = kernel.function("releaseAllExecutionMemoryForTask").call(executor, task);
          expected = spark.manager.releaseAllExecutionMemoryForTask(task++);
        }
      }
      double[] state = kernel.state(executor);
      double[] reached = {state[0], state[1], state[2], state[3], state[8]};
      if (given != expected || !Arrays.equals(reached, spark.state(numBlocks))) {
        throw new AssertionError("operation " + i + ": " + given + ", in Spark " + expected + "; state "
            + Arrays.toString(reached) + ", in Spark " + Arrays.toString(spark.state(numBlocks)));
      }
    }
    System.out.println(operations + " operations equal to those of Spark's own classes");
  }
}
