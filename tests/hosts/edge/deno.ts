// Serves the service in Deno; prints its address.
import entry from "../../../routes/entries/deno.ts";

Deno.serve({
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ hostname, port }) => console.log(`http://${hostname}:${port}/`),
}, (request) => entry.fetch(request));
