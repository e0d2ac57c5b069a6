// The queue of uploads: two at a time, each with its progress.

const AT_ONCE = 2;
const waiting = [];
let running = 0;

export const isUploading = () => running > 0 || waiting.length > 0;

window.addEventListener("beforeunload", (event) => {
  if (isUploading()) event.preventDefault();
});

function next() {
  while (running < AT_ONCE && waiting[0]?.checked) {
    running += 1;
    waiting.shift().start();
  }
  if (!isUploading()) window.dispatchEvent(new Event("uploads:ended"));
}

// Uploads a file to the action of `form`, with `fields`. The caller provides the `words` for its states (`waiting`,
// `sending`, `storing`), `show(percent, text)`, `begin()` for when it starts, and for its end `refuse(reason)` if the
// check finds a reason not to send it, `arrive(request)` for the server's response, and `breakOff()` for an
// interruption.
export class Transfer {
  constructor(file, form, fields, view) {
    Object.assign(this, { file, form, fields, view });
  }

  // A `check` can take a while; waiting files count as being uploaded.
  async queue(check) {
    this.view.show(0, this.view.words.waiting);
    waiting.push(this);
    const reason = this.checked || !check ? "" : await check();
    if (this.cancelled) return;
    if (reason) {
      waiting.splice(waiting.indexOf(this), 1);
      this.view.refuse(reason);
    }
    this.checked = !reason;
    next();
  }

  start() {
    this.view.begin?.();
    const { words } = this.view;
    const data = new FormData();
    for (const [name, value] of Object.entries(this.fields)) data.append(name, value);
    data.append("file", this.file);
    this.request = new XMLHttpRequest();
    this.request.upload.addEventListener("progress", (event) => {
      const percent = Math.floor((100 * event.loaded) / (event.total || 1));
      this.view.show(percent, percent < 100 ? `${words.sending} · ${percent}%` : words.storing);
    });
    this.request.addEventListener("loadend", () => {
      running -= 1;
      if (this.request.status) this.view.arrive(this.request);
      else if (!this.cancelled) this.view.breakOff();
      next();
    });
    this.request.open("POST", this.form.action);
    this.request.setRequestHeader("HX-Request", "true");
    this.request.setRequestHeader("X-CSRFToken", this.form.elements.csrfmiddlewaretoken.value);
    this.request.send(data);
  }

  cancel() {
    this.cancelled = true;
    const place = waiting.indexOf(this);
    if (place >= 0) waiting.splice(place, 1);
    this.request?.abort();
    next();
  }
}
