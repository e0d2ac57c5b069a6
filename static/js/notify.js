// Notifications of this browser that an answer is complete: off until the user turns them on here.

const KEY = "notify";

export const possible = "Notification" in window && window.isSecureContext;
export const blocked = () => possible && Notification.permission === "denied";
export const chosen = () => localStorage.getItem(KEY); // "on", "off", or null before any choice
export const isOn = () => possible && chosen() === "on" && Notification.permission === "granted";

export function turnOff() {
  localStorage.setItem(KEY, "off");
}

// Only after a click, since the browser then asks the user. Returns whether they are on.
export async function turnOn() {
  if (!possible) return false;
  if ((await Notification.requestPermission()) !== "granted") return false;
  localStorage.setItem(KEY, "on");
  return true;
}

// The same `tag` from several pages is one notification. On phones, only a service worker can show it.
export async function notify(title, body, tag, address) {
  const options = { body, tag, data: address, icon: document.querySelector("link[rel=icon]")?.href };
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker?.active) return worker.showNotification(title, options);
  new Notification(title, options).onclick = () => {
    window.focus();
    if (new URL(address).pathname !== location.pathname) location.assign(address);
  };
}

// The switch on the account page.
const box = document.querySelector("[data-notify-switch]");
if (box) {
  const state = () => {
    box.checked = isOn();
    box.disabled = !possible || blocked();
    document.querySelector("[data-notify-blocked]").hidden = !blocked();
    document.querySelector("[data-notify-impossible]").hidden = possible;
  };
  box.addEventListener("change", async () => {
    if (box.checked) await turnOn();
    else turnOff();
    state();
  });
  state();
}
