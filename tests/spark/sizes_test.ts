import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import {
  byteFromString,
  bytesToString,
  byteStringAs,
  MAX_SIZE,
  msDurationToString,
  printedSize,
  timeStringAs,
  uiBytesToString,
} from "../../src/spark/sizes.ts";

function refusal(read: () => unknown): InputError {
  return assertThrows(read, InputError);
}

Deno.test("byteStringAs() reads every suffix of JavaUtils, in any case, with blanks around", () => {
  const KIB = 1024;
  for (
    const [text, bytes] of [
      ["1b", 1],
      ["1k", KIB],
      ["1KB", KIB],
      ["1m", KIB ** 2],
      ["1mb", KIB ** 2],
      ["1G", KIB ** 3],
      ["1gb", KIB ** 3],
      ["1t", KIB ** 4],
      ["1tb", KIB ** 4],
      ["1p", KIB ** 5],
      ["1PB", KIB ** 5],
      [" 512 ", 512],
      ["007", 7],
    ] as const
  ) assertEquals(byteStringAs(text, "BYTE"), bytes, text);
});

Deno.test("byteStringAs() takes a bare number in the key's unit and cuts smaller units", () => {
  assertEquals(byteStringAs("512", "MiB"), 512);
  assertEquals(byteStringAs("2047k", "MiB"), 1);
  assertEquals(byteStringAs("1023", "BYTE"), 1023);
  assertEquals(byteStringAs("1023b", "KiB"), 0);
});

Deno.test("byteStringAs() refuses with the words of JavaUtils", () => {
  const rest = (text: string) => refusal(() => byteStringAs(text, "BYTE")).message.split("\n")[1];
  assertEquals(
    rest("1.5g"),
    "Fractional values are not supported. Input was: 1.5",
  );
  assertEquals(rest("lots"), "Failed to parse byte string: lots");
  assertEquals(rest("-1"), "Failed to parse byte string: -1");
  assertEquals(rest("1e"), 'Invalid suffix: "e"');
  assertEquals(rest("1gib"), 'Invalid suffix: "gib"');
  assertEquals(rest(""), "Failed to parse byte string: ");
  assertEquals(
    rest("99999999999999999999"),
    'For input string: "99999999999999999999"',
  );
});

Deno.test("byteStringAs() refuses what overflows a Long, and saturates what only overflows 2^53 - 1", () => {
  // ByteUnit.convertTo, 2.4.0: 8192p is 2^63.
  const error = refusal(() => byteStringAs("8192p", "BYTE"));
  assertEquals(
    error.message,
    "Conversion of 8192 exceeds Long.MAX_VALUE in PiB. Try a larger unit (e.g. MiB instead of KiB)",
  );
  assertEquals(
    error.parameters.exception,
    "java.lang.IllegalArgumentException",
  );
  assertEquals(byteStringAs("8191p", "BYTE"), MAX_SIZE);
  assertEquals(byteStringAs("9223372036854775807", "BYTE"), MAX_SIZE);
});

Deno.test("byteFromString() allows one minus", () => {
  assertEquals(byteFromString("-1", "BYTE"), -1);
  assertEquals(byteFromString("-2k", "BYTE"), -2048);
  refusal(() => byteFromString("--1", "BYTE"));
  assertEquals(Object.is(byteFromString("-0", "BYTE"), 0), true);
});

Deno.test("timeStringAs() reads every suffix, signs, and cuts towards zero", () => {
  for (
    const [text, ms] of [
      ["3s", 3000],
      ["100ms", 100],
      ["100", 100],
      ["2m", 120_000],
      ["2min", 120_000],
      ["1h", 3_600_000],
      ["1d", 86_400_000],
      ["2500us", 2],
      ["-2500us", -2],
      ["-1", -1],
    ] as const
  ) assertEquals(timeStringAs(text, "MILLISECONDS"), ms, text);
  assertEquals(timeStringAs("1500ms", "SECONDS"), 1);
  assertEquals(timeStringAs("9223372036854775807d", "MILLISECONDS"), MAX_SIZE);
});

Deno.test("timeStringAs() refuses with the words of JavaUtils", () => {
  const error = refusal(() => timeStringAs("3 s", "MILLISECONDS"));
  assertEquals(error.code, "size.time");
  assertEquals(error.message.split("\n"), [
    "Time must be specified as seconds (s), milliseconds (ms), microseconds (us), minutes (m or min), " +
    "hour (h), or day (d). E.g. 50s, 100ms, or 250us.",
    "Failed to parse time string: 3 s",
  ]);
});

Deno.test("bytesToString() rounds half up and changes unit at two of the larger one", () => {
  // Utils.bytesToString: BigDecimal with HALF_UP, 2.4.0 and 3.0.3; Double with one digit, 3.1 on.
  assertEquals(bytesToString(0, "MB"), "0.0 B");
  assertEquals(bytesToString(2047, "MB"), "2047.0 B");
  assertEquals(bytesToString(2048, "MB"), "2.0 KB");
  assertEquals(bytesToString(2048 + 51, "MiB"), "2.0 KiB");
  assertEquals(bytesToString(2048 + 52, "MiB"), "2.1 KiB");
  assertEquals(bytesToString(2 ** 21 - 1, "MiB"), "2048.0 KiB");
  assertEquals(bytesToString(1073741824, "MiB"), "1024.0 MiB");
  assertEquals(bytesToString(2147483648, "MB"), "2.0 GB");
  assertEquals(bytesToString(9223372036854775807n, "MiB"), "8.0 EiB");
  assertEquals(bytesToString(-4096, "MiB"), "-4096.0 B");
});

Deno.test("printedSize() gives back exactly the sizes that print alike", () => {
  for (
    const text of [
      "1062.8 MB",
      "366.3 MiB",
      "384.0 B",
      "2.0 GB",
      "95.6 KB",
      "0.0 B",
      "42.5 GiB",
      "2048.0 KiB",
    ]
  ) {
    const range = printedSize(text)!;
    const style = text.includes("iB") ? "MiB" : "MB";
    assertEquals(bytesToString(range.min, style), text);
    assertEquals(bytesToString(range.max, style), text);
  }
  assertEquals(printedSize("1,5 GB"), null);
  assertEquals(printedSize("1.25 GB"), null);
});

Deno.test("uiBytesToString() divides by 1000 as the pages of Spark 2 and 3 do", () => {
  // Public report: a 2 GB driver shows 956.6 MB on the Executors page and 912.3 MB in the log.
  assertEquals(uiBytesToString(956615884), "956.6 MB");
  assertEquals(bytesToString(956615884, "MB"), "912.3 MB");
  assertEquals(uiBytesToString(999), "999.0 B");
});

Deno.test("msDurationToString() changes unit as Utils does", () => {
  assertEquals(msDurationToString(0), "0 ms");
  assertEquals(msDurationToString(1000), "1.0 s");
  assertEquals(msDurationToString(59_949), "59.9 s");
  assertEquals(msDurationToString(60_000), "1.0 m");
  assertEquals(msDurationToString(5_400_000), "1.50 h");
});

Deno.test("timeStringAs() refuses digits beyond Long, and cuts times below the least safe integer", () => {
  // JavaUtils.timeStringAs: Long.parseLong throws beyond 2^63 - 1, and TimeUnit.convert saturates: at Long, here at 2^53 - 1.
  assertEquals(
    refusal(() => timeStringAs("9223372036854775808ms", "MILLISECONDS")).message.endsWith(
      '\nFor input string: "9223372036854775808"',
    ),
    true,
  );
  assertEquals(timeStringAs("-9223372036854775808d", "MILLISECONDS"), -MAX_SIZE);
});
