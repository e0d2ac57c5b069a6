// A chat opened at "/" gets its own URL, before other scripts use it and for reloads.

const own = new URL(document.querySelector("link[rel=canonical]").href);
if (location.pathname !== own.pathname) history.replaceState(history.state, "", own);
