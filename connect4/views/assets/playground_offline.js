/* The service worker of the playground: without a network it answers with the page that was kept.
   `workers.js` keeps the page, Python and the kit, and deletes those of an older kit. */
{
  const scope = /** @type {any} */ (self);
  scope.addEventListener("install", () => scope.skipWaiting());
  scope.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(scope.clients.claim()));
  scope.addEventListener("fetch", (/** @type {any} */ event) => {
    if (event.request.mode !== "navigate") return;
    /* The server is asked: it may have a newer page than the one that the browser keeps. */
    event.respondWith(fetch(event.request, { cache: "no-cache" }).catch(async (error) => {
      const page = await caches.match(scope.registration.scope, { ignoreSearch: true });
      if (!page) throw error;
      return page;
    }));
  });
}
