package hosts;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.types.ValType;
import java.nio.ByteBuffer;
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

/** The kernel beside Spark 2.4.0's own memory manager and block store: random operations on both, compared after each. */
final class CheckAgainstSpark {
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

  /** Calls an export; numbers are doubles on this side, as all of the kernel's numbers fit them. */
  private static double call(Instance kernel, String name, double... numbers) {
    var type = kernel.exportType(name);
    long[] arguments = new long[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      arguments[i] = type.params().get(i).equals(ValType.I32) ? (int) numbers[i] : Double.doubleToRawLongBits(numbers[i]);
    }
    long result = kernel.export(name).apply(arguments)[0];
    return type.returns().get(0).equals(ValType.I32) ? (int) result : Double.longBitsToDouble(result);
  }

  /** @throws AssertionError at the first difference */
  static void check(Instance kernel, long seed, int operations) {
    Random random = new Random(seed);
    CheckAgainstSpark spark = new CheckAgainstSpark();
    LogManager.getRootLogger().setLevel(Level.ERROR);
    double executor = call(kernel, "createExecutor", HEAP, HEAP / 2, 0, 0, 0);
    int numBlocks = 40;
    for (int i = 0; i < numBlocks; i++) call(kernel, "declareBlock", executor, i % 7);
    int task = 0;
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
          given = call(kernel, "putBytes", executor, block, size, 0, 0);
          expected = spark.putBytes(id, size) ? 1 : 0;
        }
        case 2 -> {
          given = call(kernel, "get", executor, block);
          expected = spark.store.getBytes(id).isDefined() ? 1 : 0;
        }
        case 3 -> {
          given = call(kernel, "remove", executor, block);
          expected = spark.remove(id) ? 1 : 0;
        }
        case 4 -> {
          given = call(kernel, "acquireExecutionMemory", executor, size, task, 0);
          expected = spark.manager.acquireExecutionMemory(size, task, MemoryMode.ON_HEAP);
        }
        default -> {
          given = call(kernel, "releaseAllExecutionMemoryForTask", executor, task);
          expected = spark.manager.releaseAllExecutionMemoryForTask(task++);
        }
      }
      double[] reached = Arrays.stream(new int[] {0, 1, 2, 3, 8}).mapToDouble(n -> call(kernel, "stateNumber", executor, n)).toArray();
      if (given != expected || !Arrays.equals(reached, spark.state(numBlocks))) {
        throw new AssertionError("operation " + i + ": " + given + ", in Spark " + expected + "; state "
            + Arrays.toString(reached) + ", in Spark " + Arrays.toString(spark.state(numBlocks)));
      }
    }
    System.out.println(operations + " operations equal to those of Spark's own classes");
  }
}
