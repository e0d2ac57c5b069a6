// Shows a page that says so when the site can't be reached, and the notifications of pages. It keeps nothing else:
// pages are private.
const CACHE = "offline-{{ version }}";
const PAGE = "{{ page }}";
const FILES = {{ files|safe }};

self.addEventListener("install", (event) => {
  const store = async () => (await caches.open(CACHE)).addAll([PAGE, ...FILES]);
  event.waitUntil(store().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = async () => (await caches.keys()).filter((name) => name !== CACHE).map((name) => caches.delete(name));
  // Requests pages while the worker starts.
  const begin = [self.registration.navigationPreload?.enable(), old().then((gone) => Promise.all(gone)), clients.claim()];
  event.waitUntil(Promise.all(begin));
});

async function open(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return caches.match(PAGE);
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(open(event));
  else if (FILES.includes(new URL(request.url).pathname)) {
    event.respondWith(fetch(request).catch(() => caches.match(request)));
  }
});

async function show(address) {
  const pages = await clients.matchAll({ type: "window" });
  const page = pages.find(({ url }) => new URL(url).pathname === new URL(address).pathname);
  return page ? page.focus() : clients.openWindow(address);
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});
