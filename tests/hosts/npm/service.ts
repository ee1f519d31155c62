// The service and its client in TypeScript: requests and answers have types.
import { createClient } from "@sparkmem/sparkmem/client";
import { createApp, DEFAULT_LIMITS } from "@sparkmem/sparkmem/service";

const app = createApp({ limits: { ...DEFAULT_LIMITS, concurrency: 1 } });
const client = createClient("http://localhost", { fetch: (input, init) => app.request(input as Request, init) });
const answer = await client.v1.simulations.$post({ json: { template: "sort", executors: 2, seed: 7 } });
const summary = await answer.json();
const spilled: number | null = summary.execution.memoryBytesSpilled;
console.log(answer.status, summary.outcome.status, spilled);
const { templates } = await (await client.v1.templates.$get()).json();
console.log(templates.map(({ name }) => name).join(" "));
// @ts-expect-error there is no such template parameter type
await client.v1.simulations.$post({ json: { template: 4 } });
