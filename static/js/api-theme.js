// The API's page follows the theme that was chosen on the site, or else the system's. Its library takes a class.

const chosen = document.cookie.match(/(?:^|; )theme=(light|dark)/)?.[1];
const system = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", chosen ? chosen === "dark" : system.matches);
system.addEventListener("change", follow);
follow();
