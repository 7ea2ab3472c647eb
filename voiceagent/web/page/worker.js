// Runs without a page: shows that an urgent question waits, and opens the inbox. It keeps the address by which the page was opened.

const PLACE = "voiceagent";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", (event) => {
  if (event.data?.address) event.waitUntil(caches.open(PLACE).then((kept) => kept.put("address", new Response(event.data.address))));
});

self.addEventListener("push", (event) => {
  const told = event.data?.json() ?? {};
  event.waitUntil(self.registration.showNotification("A question waits for you", {
    body: typeof told.text === "string" ? told.text : "Open the inbox to answer it.", tag: told.question_id, icon: "icon.svg",
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show());
});

async function show() {
  const [page] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (page) { await page.focus(); page.postMessage({ show: "inbox" }); return; }
  const kept = await (await caches.open(PLACE)).match("address");
  const address = new URL(kept ? await kept.text() : "./", self.registration.scope);
  address.searchParams.set("view", "inbox");
  await self.clients.openWindow(address);
}
