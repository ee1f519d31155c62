package hosts;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Replays a recorded trace: Replay KERNEL.WASM TRACE.TXT */
public final class Replay {
  /** A line of the trace: NAME ARGUMENT... = ANSWER; `numbers` has room for the executor's handle in front. */
  record Call(String line, Kernel.Function function, double[] numbers, String answer) {}

  private static Call parse(Kernel kernel, String line) {
    String[] words = line.split(" ");
    int room = words[0].equals("createExecutor") ? 0 : 1;
    double[] numbers = new double[words.length - 3 + room];
    for (int i = room; i < numbers.length; i++) numbers[i] = Double.parseDouble(words[i + 1 - room]);
    return new Call(line, kernel.function(words[0]), numbers, words[words.length - 1]);
  }

  private static double replay(Kernel kernel, Call create, List<Call> calls, boolean check) {
    double executor = create.function.call(create.numbers);
    for (Call call : calls) {
      call.numbers[0] = executor;
      double given = call.function.call(call.numbers);
      if (!check) continue;
      // a negative answer is an error's status, from FIRST_TICKET down the ticket of a waiting task
      String meaning = given >= 0 ? String.valueOf((long) given) : given > kernel.firstTicket ? "fails" : "waits";
      if (!meaning.equals(call.answer)) throw new AssertionError(call.line + ": " + given);
    }
    return executor;
  }

  public static void main(String[] files) throws Exception {
    Kernel kernel = new Kernel(Path.of(files[0]));
    List<String> lines = Files.readAllLines(Path.of(files[1]));
    Call create = parse(kernel, lines.get(0));
    List<Call> calls = lines.subList(1, lines.size() - 1).stream().map(line -> parse(kernel, line)).toList();

    double executor = replay(kernel, create, calls, true);
    String state = Arrays.stream(kernel.state(executor)).mapToObj(n -> " " + (long) n).collect(Collectors.joining());
    if (!("state" + state).equals(lines.get(lines.size() - 1))) throw new AssertionError(state);
    kernel.function("destroyExecutor").call(executor);

    long start = System.nanoTime();
    int rounds = 0;
    for (; System.nanoTime() - start < 500_000_000; rounds++) {
      kernel.function("destroyExecutor").call(replay(kernel, create, calls, false));
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.println("state" + state);
    System.out.printf("%.0f operations per second%n", rounds * calls.size() / seconds);
  }
}
