// Before the first paint: the administration follows the theme that was chosen on the site.

const chosen = document.cookie.match(/(?:^|; )theme=(light|dark)/)?.[1];
if (chosen) document.documentElement.dataset.theme = chosen;

// The column of lists, where it is longer than the window, shows the one that the page belongs to.
document.addEventListener("DOMContentLoaded", () => {
  const here = document.querySelector("#lists [aria-current]");
  if (here?.offsetParent) here.offsetParent.scrollTop = here.offsetTop - here.offsetParent.clientHeight / 2;
});
