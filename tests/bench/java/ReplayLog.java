import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import org.apache.spark.scheduler.ReplayListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Reads an event log with Spark's own ReplayListenerBus and a listener that adds two numbers up, so many times; one line of JSON each. */
public class ReplayLog {
  static class Sum extends SparkListener {
    long tasks;
    long resultBytes;

    @Override
    public void onTaskEnd(SparkListenerTaskEnd event) {
      tasks++;
      if (event.taskMetrics() != null) resultBytes += event.taskMetrics().resultSize();
    }
  }

  public static void main(String[] arguments) throws Exception {
    String path = arguments[0];
    int rounds = Integer.parseInt(arguments[1]);
    for (int round = 0; round < rounds; round++) {
      long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      long wall = System.nanoTime();
      Sum sum = new Sum();
      ReplayListenerBus bus = new ReplayListenerBus();
      bus.addListener(sum);
      try (InputStream in = new BufferedInputStream(new FileInputStream(path), 1 << 16)) {
        bus.replay(in, path, false, ReplayListenerBus.SELECT_ALL_FILTER());
      }
      System.out.printf(
          "{\"wallMs\":%d,\"cpuMs\":%d,\"processCpuMs\":%d,\"tasks\":%d,\"resultBytes\":%d}%n",
          (System.nanoTime() - wall) / 1_000_000,
          (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu) / 1_000_000,
          // All threads since the start: the compiler and the garbage collector too.
          ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1_000_000,
          sum.tasks,
          sum.resultBytes);
    }
  }
}
