// A chat that was reached by "/" takes its own address, before other scripts use it, and for a reload.

const own = new URL(document.querySelector("link[rel=canonical]").href);
if (location.pathname !== own.pathname) history.replaceState(history.state, "", own);
