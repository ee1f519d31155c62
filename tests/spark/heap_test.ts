import { assertEquals } from "@std/assert";
import { heapsOfMaxMemory, invertMaximum, runtimeMaxMemory } from "../../src/spark/heap.ts";

const MIB = 1048576;

Deno.test("runtimeMaxMemory() is what JDK 17 reports, collector by collector", () => {
  // Measured: java -Xmx<heap> [-Xms<heap>] -XX:+Use<collector>GC, Runtime.getRuntime().maxMemory(), OpenJDK 17.0.
  const measured: [kib: number, parallel: number, full: number, serial: number, g1: number][] = [
    [512 * 1024, 477626368, 514850816, 518979584, 536870912],
    [1001 * 1024, 934281216, 1007157248, 1015676928, 1050673152],
    [1535 * 1024, 1431830528, 1543503872, 1556938752, 1610612736],
    [2048 * 1024, 1908932608, 2058354688, 2075918336, 2147483648],
    [4096 * 1024, 3817865216, 4116185088, 4151836672, 4294967296],
    [5256108, 4785700864, 5159518208, 5203951616, 5385486336],
    [6533996, 5948571648, 6413615104, 6468993024, 6694109184],
    [6656 * 1024, 6203899904, 6688866304, 6746734592, 6979321856],
  ];
  for (const [kib, parallel, full, serial, g1] of measured) {
    const heap = kib * 1024;
    assertEquals(runtimeMaxMemory(heap, "parallel"), parallel, `parallel ${kib}k`);
    assertEquals(runtimeMaxMemory(heap, "parallel", "full"), full, `parallel, -Xms ${kib}k`);
    assertEquals(runtimeMaxMemory(heap, "serial"), serial, `serial ${kib}k`);
    assertEquals(runtimeMaxMemory(heap, "g1"), g1, `g1 ${kib}k`);
  }
});

Deno.test("a G1 heap is a whole number of regions", () => {
  // Measured on JDK 17 and 25, -Xms64m: regions of 4, 8, 16 and 32 MiB.
  for (
    const [mib, reported] of [
      [6001, 6295650304],
      [9001, 9445572608],
      [17001, 17834180608],
      [33001, 34628173824],
      [70001, 73417097216],
    ]
  ) assertEquals(runtimeMaxMemory(mib * MIB, "g1"), reported);
});

Deno.test("heapsOfMaxMemory() finds every heap back, by collector", () => {
  for (let mib = 450; mib <= 70_000; mib += 734) {
    for (
      const [collector, committed] of [["g1", "small"], ["parallel", "small"], ["parallel", "full"], [
        "serial",
        "small",
      ]] as const
    ) {
      const heap = mib * MIB;
      const maxMemory = runtimeMaxMemory(heap, collector, committed);
      const found = heapsOfMaxMemory(maxMemory).some((guess) =>
        guess.collector === collector && guess.committed === committed &&
        runtimeMaxMemory(guess.heap, collector, committed) === maxMemory
      );
      assertEquals(found, true, `${mib} MiB ${collector} ${committed}`);
    }
  }
  assertEquals(heapsOfMaxMemory(1000), []);
});

Deno.test("invertMaximum() gives the heap back from recorded maxima, with the configured one first", () => {
  // Event logs of public issues: [Maximum Onheap Memory, configured MiB, Runtime.maxMemory in MiB, collector].
  for (
    const [recorded, mib, maxMiB, collector, committed] of [
      [2674812518, 5120, 4551.5, "parallel", "small"],
      [45624380620, 81920, 72818, "parallel", "small"],
      [32023511040, 51200, 51200, "g1", "small"],
      [4392694579, 8192, 7282, "parallel", "small"],
      [956615884, 2048, 1820.5, "parallel", "small"],
      [428762726, 1024, 981.5, "parallel", "full"],
      [434031820, 1024, 989.875, "serial", "small"],
    ] as const
  ) {
    const inverted = invertMaximum(recorded, { fraction: 0.6, configuredHeap: mib * MIB })!;
    assertEquals(inverted.systemMemory, maxMiB * MIB);
    assertEquals(inverted.heaps[0], { heap: mib * MIB, collector, committed });
  }
});

Deno.test("invertMaximum() says so when no heap of a known collector fits", () => {
  const odd = invertMaximum(600, { fraction: 0.6, reservedMemory: 0 });
  assertEquals(odd, { systemMemory: 1000, heaps: [] });
  assertEquals(invertMaximum(100, { fraction: 0 }), null);
  assertEquals(invertMaximum(-1, { fraction: 0.6 }), null);
});

Deno.test("ZGC and Shenandoah hide nothing of the heap: it is a multiple of 2 MiB, or of Shenandoah's regions", () => {
  // Measured: java -Xmx<kib>k -Xms64m -XX:+UseZGC or -XX:+UseShenandoahGC, Runtime.getRuntime().maxMemory(), OpenJDK 17.0.15.
  const measured: [kib: number, zgc: number, shenandoah: number][] = [
    [524288, 536870912, 536870912],
    [524289, 538968064, 537133056],
    [1025024, 1050673152, 1049624576],
    [1025124, 1050673152, 1049886720],
    [1571840, 1610612736, 1609564160],
    [5256108, 5383389184, 5383389184],
    [6533996, 6692012032, 6692012032],
    [20971521, 21476933632, 21483225088],
    [33554433, 34361835520, 34376515584],
  ];
  for (const [kib, zgc, shenandoah] of measured) {
    assertEquals(runtimeMaxMemory(kib * 1024, "zgc"), zgc, `zgc ${kib}k`);
    assertEquals(runtimeMaxMemory(kib * 1024, "shenandoah"), shenandoah, `shenandoah ${kib}k`);
  }
});

Deno.test("invertMaximum() finds a Runtime.maxMemory that was set by hand, and says when none gives the number", () => {
  // (400,000,001 - 314,572,800) x 0.6 = 51,256,320.6; only that byte gives it, and it is no multiple of 64 KiB.
  assertEquals(invertMaximum(51_256_320, { fraction: 0.6 }), { systemMemory: 400_000_000, heaps: [] });
  // With a fraction of 2 all maxima are even.
  assertEquals(invertMaximum(51_256_321, { fraction: 2 }), null);
  // With one of 0.000001 a maximum of 3 has 1,000,000 bytes to come from: 64 KiB are passed several times.
  const small = invertMaximum(3, { fraction: 0.000001 })!;
  assertEquals(Math.trunc((small.systemMemory - 300 * MIB) * 0.000001), 3);
  assertEquals(small.systemMemory % 65536, 0);
});
