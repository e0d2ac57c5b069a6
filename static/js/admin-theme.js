// Before the first paint: the administration uses the theme chosen on the site.

const chosen = document.cookie.match(/(?:^|; )theme=(light|dark)/)?.[1];
if (chosen) document.documentElement.dataset.theme = chosen;

// Scrolls the column of lists to the current one; in a drawer, once it is open.
function showHere() {
  const here = document.querySelector("#lists [aria-current]");
  const box = here?.offsetParent;
  if (box) box.scrollTop = here.offsetTop - box.clientHeight / 2;
}
document.addEventListener("DOMContentLoaded", () => {
  showHere();
  document.getElementById("lists")?.addEventListener("toggle", showHere);
});
