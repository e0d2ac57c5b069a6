// Text while it is being written: only the changed end is sent. See conversations/rendering/text_frames.py.

import { catchUp } from "./connection.js";

const chat = document.getElementById("chat");
const MARK = "~";
const SEPARATOR = "\x1e";
const RECORD = /^~(\d+)-(\w+)(?:,([\d*]*))?(?:,([\d*]*))?(?:,(\d*))?~/;
const CITATION = /\x1f([^\x1f]*)\x1f|<sup class="citation([^"]*)"><a [^<>]*?data-citation="(\d+)".*?<\/sup>/gs;
const CLOSING_TAGS = /(?:<\/\w+>\n?)*$/;
const APPENDED = ["code", "rows", "text"];

const citations = new Map();

function citationsIn(html, message) {
  return html.replace(CITATION, (sent, name, classes, number) => {
    if (name !== undefined) return citations.get(`${message} ${name}`) ?? "";
    citations.set(`${message} ${number}${classes}`, sent);
    return sent;
  });
}

const count = (field, most) => (field === "*" ? most : Number(field || 0));

function splice(open, html, drop, finished) {
  // Keep the HTML as it was sent, since the element would serialize it differently.
  if (drop !== "*" && open.sent === undefined) return catchUp();
  const before = open.sent ?? "";
  const kept = drop ? before.length - count(drop, before.length) : before.search(CLOSING_TAGS);
  const all = before.slice(0, kept) + html + (drop ? "" : before.slice(kept));
  const end = count(finished, all.length);
  if (end > 0) open.insertAdjacentHTML("beforebegin", all.slice(0, end));
  if (finished === "*") return open.remove();
  open.sent = all.slice(end);
  open.innerHTML = open.sent;
}

function take(record) {
  const [head, message, block, drop, finished, events] = record.match(RECORD);
  const name = `answer-${message}-${block}`;
  const mark = document.getElementById(`answer-${message}-mark`);
  const html = citationsIn(record.slice(head.length), message);
  const open = document.getElementById(`${name}-open`);
  // Ignore records for an answer that the page no longer shows.
  if (!mark) return;
  if (open) splice(open, html, drop, finished);
  else if (block === "blocks") document.getElementById(name).innerHTML = html;
  else APPENDED.map((part) => document.getElementById(`${name}-${part}`)).find(Boolean)?.insertAdjacentHTML("beforeend", html);
  mark.dataset.seq = Number(mark.dataset.seq) + Number(events || 1);
}

chat.addEventListener("htmx:wsBeforeMessage", (event) => {
  const { message } = event.detail;
  if (!message.startsWith(MARK)) return;
  event.preventDefault();
  message.split(SEPARATOR).forEach(take);
});
