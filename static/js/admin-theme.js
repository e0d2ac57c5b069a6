// Before the first paint: the administration follows the theme that was chosen on the site.

const chosen = document.cookie.match(/(?:^|; )theme=(light|dark)/)?.[1];
if (chosen) document.documentElement.dataset.theme = chosen;

// The side bar stands where it was left from the first paint on, so that nothing moves when Django's script comes.
const sideBar = new MutationObserver(() => {
  const main = document.getElementById("toggle-nav-sidebar")?.parentElement;
  if (!main) return;
  sideBar.disconnect();
  main.classList.toggle("shifted", localStorage.getItem("django.admin.navSidebarIsOpen") !== "false");
});
sideBar.observe(document, { childList: true, subtree: true });
document.addEventListener("DOMContentLoaded", () => sideBar.disconnect());
