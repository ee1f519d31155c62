package hosts;

import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.Parser;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The kernel in Java, compiled to bytecode, then beside Spark's own classes: Replay KERNEL.WASM TRACE.TXT */
public final class Replay {
  public static void main(String[] files) throws Exception {
    var module = Parser.parse(Path.of(files[0]).toFile());
    var kernel = Instance.builder(module).withMachineFactory(MachineFactoryCompiler.compile(module)).build();
    if (kernel.exports().global("ABI_VERSION").getValue() != 1) throw new Error("another version of the kernel's ABI");

    // createExecutor, declareBlock with all RDDs, then CODE MODE FLAGS SUBJECT BYTES = ANSWER, last the state
    List<String[]> lines = Files.readAllLines(Path.of(files[1])).stream().map(line -> line.split(" ")).toList();
    long[] layout = Arrays.stream(lines.get(0)).skip(1).mapToLong(n -> Double.doubleToRawLongBits(Long.parseLong(n))).toArray();
    long[] rdds = Arrays.stream(lines.get(1)).skip(1).mapToLong(Long::parseLong).toArray();
    int count = lines.size() - 3;
    ByteBuffer batch = ByteBuffer.allocate(16 * count).order(ByteOrder.LITTLE_ENDIAN);
    for (String[] words : lines.subList(2, count + 2)) {
      batch.put((byte) kernel.exports().global(words[0]).getValue()).put(Byte.parseByte(words[1]));
      batch.putShort(Short.parseShort(words[2])).putInt(Integer.parseInt(words[3])).putLong(Long.parseLong(words[4]));
    }
    int address = (int) kernel.export("batchBuffer").apply(count)[0];

    long executor = replay(kernel, layout, rdds, address, batch);
    StringBuilder state = new StringBuilder("state");
    for (int i = 0; i < 13; i++) {
      state.append(' ').append((long) Double.longBitsToDouble(kernel.export("stateNumber").apply(executor, i)[0]));
    }
    String expected = String.join(" ", lines.get(count + 2));
    if (!expected.contentEquals(state)) throw new AssertionError(state + ", in Spark " + expected);

    long begin = System.nanoTime(), start = begin, rounds = 0;
    for (long now = begin; now < begin + 4e9; now = System.nanoTime(), rounds++) {
      if (now < begin + 3e9) { start = now; rounds = 0; } // until then HotSpot compiles
      kernel.export("destroyExecutor").apply(replay(kernel, layout, rdds, address, batch));
    }
    System.out.printf("%s%n%.0f operations per second%n", state, rounds * count / ((System.nanoTime() - start) / 1e9));
    CheckAgainstSpark.check(kernel, 7, 20_000);
  }

  private static long replay(Instance kernel, long[] layout, long[] rdds, int address, ByteBuffer batch) {
    long executor = kernel.export("createExecutor").apply(layout)[0];
    for (long rdd : rdds) kernel.export("declareBlock").apply(executor, rdd);
    kernel.memory().write(address, batch.array());
    long run = kernel.export("runBatch").apply(executor, batch.capacity() / 16)[0];
    if (run != batch.capacity() / 16) throw new AssertionError(run + " operations were run");
    return executor;
  }
}
