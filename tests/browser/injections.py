"""Markup that must be shown as text everywhere, and a trap that detects when it isn't."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from playwright.sync_api import BrowserContext, Page

# `№` becomes the injection's number, `CANARY` an address that nothing else requests. Injected elements have the
# attribute `data-injected`, so that they are found even if nothing runs. All fit into the shortest field of 120
# characters.
_TEMPLATES = r"""
<script data-injected>caught(№)</script>
"><script data-injected>caught(№)</script>
'><script data-injected>caught(№)</script>
</script><script data-injected>caught(№)</script>
--><script data-injected>caught(№)</script>
</title><script data-injected>caught(№)</script>
</textarea><script data-injected>caught(№)</script>
</style><script data-injected>caught(№)</script>
</div></main></body><script data-injected>caught(№)</script>
<ScRiPt data-injected>caught(№)</sCrIpT>
<script/data-injected>caught(№)</script>
<scr<script>ipt data-injected>caught(№)</scr</script>ipt>
<script data-injected src=//CANARY/№.js></script>
<script type=module data-injected>caught(№)</script>
<img data-injected src=x onerror=caught(№)>
"><img data-injected src=x onerror=caught(№)>
'><img data-injected src=x onerror=caught(№)>
<img data-injected src=x onerror="caught(№)"
<img data-injected src=//CANARY/№
" autofocus onfocus=caught(№) data-injected x="
' autofocus onfocus=caught(№) data-injected x='
" onmouseover=caught(№) data-injected="
` onerror=caught(№) data-injected=`
<body data-injected onload=caught(№)>
<svg data-injected onload=caught(№)>
<svg data-injected><script>caught(№)</script></svg>
<svg data-injected><a xlink:href=javascript:caught(№)><text y=9>x</text></a></svg>
<svg data-injected><animate onbegin=caught(№) attributeName=x dur=1s>
<svg data-injected><use href="data:image/svg+xml,<svg id=x onload=caught(№)>#x">
<math data-injected><mtext><table><mglyph><style><img src onerror=caught(№)>
<math data-injected href="javascript:caught(№)">x</math>
<iframe data-injected srcdoc="<script>parent.caught(№)</script>"></iframe>
<iframe data-injected src="javascript:parent.caught(№)"></iframe>
<iframe data-injected src="data:text/html,<script>caught(№)</script>"></iframe>
<object data-injected data="data:text/html,<script>caught(№)</script>"></object>
<embed data-injected src=//CANARY/№>
<link data-injected rel=stylesheet href=//CANARY/№.css>
<style data-injected>@import "//CANARY/№.css";</style>
<div data-injected style="background:url(//CANARY/№.png)">x</div>
<base data-injected href=//CANARY/№/>
<meta data-injected http-equiv=refresh content="0;url=//CANARY/№">
<form data-injected action=javascript:caught(№)><button autofocus>x</button></form>
<input data-injected autofocus onfocus=caught(№)>
<details data-injected open ontoggle=caught(№)>
<video data-injected><source onerror=caught(№)></video>
<audio data-injected src=x onerror=caught(№)>
<a data-injected href="javascript:caught(№)">x</a>
[x](javascript:caught(№))
[x](JaVaScRiPt:caught(№) "t")
[x](<java&#9;script:caught(№)>)
[x](&#106;avascript:caught(№))
[x](data:text/html,<script>caught(№)</script>)
![x](javascript:caught(№))
![x](//CANARY/№.png)
![x](http://CANARY/№.png "x\" onerror=caught(№) data-injected=\"")
![x" onerror=caught(№) data-injected="](x)
[x]: javascript:caught(№)
<javascript:caught(№)>
<http://x/"onmouseover=caught(№) data-injected=">
```"><img data-injected src=x onerror=caught(№)>
| <img data-injected src=x onerror=caught(№)> |
&lt;img data-injected src=x onerror=caught(№)&gt;
&#60;script data-injected&#62;caught(№)&#60;/script&#62;
\u003cimg data-injected src=x onerror=caught(№)\u003e
%3Cimg data-injected src=x onerror=caught(№)%3E
<noscript><p title="</noscript><img data-injected src=x onerror=caught(№)>">
<textarea><!--</textarea><img data-injected src=x onerror=caught(№)>-->
<form><math><mtext></form><form><mglyph><style></math><img data-injected src onerror=caught(№)>
<svg></p><style><a id="</style><img data-injected src=1 onerror=caught(№)>">
<div data-injected hx-on::load="caught(№)" hx-get="//CANARY/№" hx-trigger=load>x</div>
<template data-injected shadowrootmode=open><img src=x onerror=caught(№)></template>
{{ 414674475|add:414674476 }}{% debug %}
{{ 7919*104729 }}<%= 7919*104729 %>#{7919*104729}
${caught(№)} {{constructor.constructor('caught(№)')()}}
"-caught(№)-" '-caught(№)-' `${caught(№)}`
javascript:caught(№)
\(\href{javascript:caught(№)}{x}\)
$\htmlStyle{background:url(//CANARY/№.png)}{x}$
$$\includegraphics{//CANARY/№.png}$$
\(\htmlData{injected=1}{x} \text{<img data-injected src=x onerror=caught(№)>}\)
\(\pmb{x} \fcolorbox{red}{blue}{caught(№)}\)
\(\def\a{\a\a}\a caught(№)\)
"""
# The results if a template evaluated the sums above.
_RECKONED = "829348951"

_TRACES = """([canary, reckoned]) => {
  const found = [];
  const urls = ["href", "xlink:href", "src", "srcdoc", "data", "action", "formaction", "poster", "srcset", "style"];
  for (const element of document.querySelectorAll("*")) {
    const values = urls.map((name) => element.getAttribute(name) ?? "");
    if (element.hasAttribute("data-injected")
        || [...element.attributes].some((it) => /^(on|hx-on)/.test(it.name) && it.value.includes("caught"))
        || values.some((value) => /^[\\s\\x00-\\x1f]*(j\\s*a\\s*v\\s*a\\s*s\\s*c|vbscript:|data:text)/i.test(value))
        || (element.tagName !== "A" && values.some((value) => value.includes(canary))))
      found.push(element.outerHTML.slice(0, 200));
  }
  if (document.body?.innerText.includes(reckoned)) found.push(reckoned);
  const shown = document.documentElement.outerHTML.matchAll(/caught\\((\\d+)\\)/g);
  return [found, [...new Set([...shown].map((match) => Number(match[1])))]];
}"""


# Diagrams with the same effects, one per fenced block.
_DIAGRAMS = r"""
%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%
flowchart LR
  A["caught(№)"] --> B
  click B call caught(№)
---
%%{init: {"securityLevel": "loose", "themeCSS": "@import url(//CANARY/d№.css);"}}%%
flowchart LR
  A["<img data-injected src=x onerror=caught(№)>"] --> B
  click A "javascript:caught(№)"
  click B call caught(№)
  style A fill:url(//CANARY/d№.png)
---
%%{init: {"fontFamily": "x;} </style><script data-injected>caught(№)</script>", "htmlLabels": true}}%%
sequenceDiagram
  A->>B: <svg data-injected onload=caught(№)>
  link A: x @ javascript:caught(№)
---
flowchart LR
  A@{ img: "//CANARY/d№.png", label: "<iframe data-injected srcdoc='<script>parent.parent.caught(№)</script>'>" }
---
classDiagram
  class A["</text><script data-injected>caught(№)</script>"]
  click A href "javascript:caught(№)" _self
"""


class Canary:
    """A local server that records requests; a context manager."""

    def __init__(self) -> None:
        self.visits: list[str] = []
        visits = self.visits

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                visits.append(self.path)
                self.send_error(404)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def injections(canary: str) -> list[str]:
    """Return the injections, numbered from 0; `canary` is a host and port."""
    lines = _TEMPLATES.strip("\n").split("\n")
    return [line.replace("№", str(number)).replace("CANARY", canary) for number, line in enumerate(lines)]


def diagrams(canary: str) -> str:
    """Return hostile diagrams as Markdown, with numbers that continue those of the injections."""
    parts = _DIAGRAMS.strip("\n").split("\n---\n")
    first = len(injections(canary))
    fences = (f"```mermaid\n{part.replace('№', str(first + n))}\n```" for n, part in enumerate(parts))
    return "\n\n".join(fences).replace("CANARY", canary)


class Trap:
    """Detects successful injections on every page of a browser context.

    `executed` contains the numbers of injections that ran, `dialogs` the opened dialogs, `violations` those of the
    content security policy, and `traces` (page, element) markup that was parsed. `shown` contains, by URL, the numbers
    of the injections on the page, as text or not.
    """

    def __init__(self, context: BrowserContext, canary: Canary) -> None:
        self.canary = canary
        self.executed: list[Any] = []
        self.dialogs: list[str] = []
        self.violations: list[str] = []
        self.traces: list[tuple[str, str]] = []
        self.shown: dict[str, set[int]] = {}
        context.expose_function("caught", lambda number=None: self.executed.append(number))
        context.expose_function("violated", lambda what: self.violations.append(what))
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (event) =>"
            " violated(`${location.pathname} ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"
        )
        context.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def look(self, page: Page) -> None:
        """Inspect the current state of a page."""
        found, shown = page.evaluate(_TRACES, [self.canary.address, _RECKONED])
        self.traces += [(page.url, element) for element in found]
        self.shown[page.url] = set(shown)

    @property
    def caught(self) -> dict[str, Any]:
        """Return everything that was detected, by kind; empty if nothing was."""
        kinds = ("executed", "dialogs", "violations", "traces")
        found = {kind: getattr(self, kind) for kind in kinds} | {"visits": self.canary.visits}
        return {kind: what for kind, what in found.items() if what}
