import { assertEquals } from "@std/assert";
import { planEnd } from "../../src/event_log/plan_scan.ts";

const METRIC = '{"name":"spill size","accumulatorId":30,"metricType":"size"}';
const plan = (children: string[], metrics: string[]) =>
  `{"nodeName":"Sort","simpleString":"Sort \\"a\\"","children":[${
    children.join(",")
  }],"metadata":{"k":"v"},"metrics":[${metrics.join(",")}]}`;

function endOf(text: string): number {
  const bytes = new TextEncoder().encode(`${text},"time":1`);
  return planEnd(bytes, new DataView(bytes.buffer), 0, bytes.length);
}

Deno.test("planEnd() finds the end of a plan with children and metrics", () => {
  for (
    const text of [plan([], []), plan([plan([], [METRIC])], [METRIC, METRIC]), plan([plan([], []), plan([], [])], [])]
  ) {
    assertEquals(endOf(text), text.length);
  }
});

Deno.test("planEnd() takes only what the decoder takes", () => {
  const text = plan([plan([], [METRIC])], [METRIC]);
  for (
    const [from, to] of [
      ['"accumulatorId":30', '"accumulatorId":"30"'],
      ['"accumulatorId":30', '"accumulatorId":3.5'],
      ['"accumulatorId":30', '"accumulatorId":030'],
      ['"accumulatorId":30', '"accumulatorId":1234567890123456'],
      ['"nodeName":"Sort"', '"nodeName":null'],
      ['"metadata":{"k":"v"}', '"metadata":null'],
      ['"metadata":{"k":"v"}', '"metadata":{"k"}'],
      ['"children":[{', '"children":[1,{'],
      ['"metrics":[{', '"metrics":[,{'],
      ['"nodeName"', '"nodename"'],
    ]
  ) {
    assertEquals(text.includes(from), true, from);
    assertEquals(endOf(text.replace(from, to)), -1, to);
  }
  for (let at = 0; at < text.length; at++) {
    const bytes = new TextEncoder().encode(text.slice(0, at));
    assertEquals(planEnd(bytes, new DataView(bytes.buffer), 0, bytes.length), -1);
  }
});

Deno.test("planEnd() leaves plans to parsing that are deeper than the decoder goes", () => {
  let text = plan([], []);
  for (let depth = 0; depth < 600; depth++) text = plan([text], []);
  assertEquals(endOf(text), -1);
});
