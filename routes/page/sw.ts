/**
 * The service worker: keeps the pages and their assets, so that both pages load without a network once they were
 * open. The build puts the list of what to keep in place of `KEEP` and its hash in place of `VERSION`.
 *
 * @module
 */

/** What of the service worker's global scope is used here; the DOM library describes windows only. */
interface Scope {
  addEventListener(
    type: "install" | "activate",
    listener: (event: { waitUntil(work: Promise<unknown>): void }) => void,
  ): void;
  addEventListener(
    type: "fetch",
    listener: (
      event: { request: Request; respondWith(r: Promise<Response>): void },
    ) => void,
  ): void;
  skipWaiting(): Promise<void>;
  readonly registration: { readonly scope: string };
}

declare const KEEP: readonly string[];
declare const VERSION: string;

const scope = globalThis as unknown as Scope;
/** Tools that load every module of the tree have no version to put in. */
const NAME = `sparkmem-${typeof VERSION === "string" ? VERSION : "unbuilt"}`;

scope.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(NAME).then((cache) => cache.addAll([...KEEP])).then(() => scope.skipWaiting()),
  );
});

scope.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys().then((names) =>
      Promise.all(
        names.filter((name) => name.startsWith("sparkmem-") && name !== NAME)
          .map((name) => caches.delete(name)),
      )
    ),
  );
});

/**
 * Pages: the network first, so that a new version shows at once. Assets carry their hash, and samples belong to the
 * version: the cache first.
 */
async function answer(request: Request, isPage: boolean): Promise<Response> {
  const cache = await caches.open(NAME);
  if (!isPage) return await cache.match(request) ?? await fetch(request);
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept !== undefined) return kept;
    throw error;
  }
}

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const base = new URL(scope.registration.scope);
  const url = new URL(request.url);
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) {
    return;
  }
  const path = url.pathname.slice(base.pathname.length);
  const isPage = path === "" || path === "learn";
  if (isPage || path.startsWith("assets/") || path.startsWith("samples/")) {
    event.respondWith(answer(request, isPage));
  }
});
