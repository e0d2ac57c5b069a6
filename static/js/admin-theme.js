// The administration follows the theme that was chosen on the site.

const chosen = document.cookie.match(/(?:^|; )theme=(light|dark)/)?.[1];
if (chosen) document.documentElement.dataset.theme = chosen;
