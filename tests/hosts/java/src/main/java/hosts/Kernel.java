package hosts;

import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.ValType;
import java.nio.file.Path;

/** The kernel, compiled to Java bytecode when it is loaded. */
final class Kernel {
  /** An export with its types; numbers are doubles on this side, as all of the kernel's numbers fit them. */
  record Function(ExportFunction export, FunctionType type) {
    double call(double... numbers) {
      long[] arguments = new long[numbers.length];
      for (int i = 0; i < numbers.length; i++) {
        arguments[i] = type.params().get(i).equals(ValType.I32) ? (int) numbers[i] : Double.doubleToRawLongBits(numbers[i]);
      }
      long result = export.apply(arguments)[0];
      return type.returns().get(0).equals(ValType.I32) ? (int) result : Double.longBitsToDouble(result);
    }
  }

  private final Instance instance;
  final int firstTicket;

  Kernel(Path wasm) {
    var module = Parser.parse(wasm.toFile());
    instance = Instance.builder(module).withMachineFactory(MachineFactoryCompiler.compile(module)).build();
    if (constant("ABI_VERSION") != 1) throw new IllegalStateException("another version of the kernel's ABI");
    firstTicket = constant("FIRST_TICKET");
  }

  int constant(String name) {
    return (int) instance.exports().global(name).getValue();
  }

  Function function(String name) {
    return new Function(instance.export(name), instance.exportType(name));
  }

  /** The executor's 13 numbers. */
  double[] state(double executor) {
    double[] state = new double[constant("STATE_NUMBERS")];
    var stateNumber = function("stateNumber");
    for (int i = 0; i < state.length; i++) state[i] = stateNumber.call(executor, i);
    return state;
  }
}
