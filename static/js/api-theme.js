// The API's page uses the theme chosen on the site, or the system's, by a class of its library.

const chosen = document.cookie.match(/(?:^|; )theme=(light|dark)/)?.[1];
const system = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", chosen ? chosen === "dark" : system.matches);
system.addEventListener("change", follow);
follow();
