// The file of the selected hit, beside the list if the window is wide.

import { ask } from "./api.js";
import { amount, announce, breakable, byId, codeLines, el, fill, prose } from "./dom.js";
import { address, fileParams, nameAt, parse } from "./filters.js";
import { MOVED, passageOf } from "./hits.js";
import { load, save } from "./settings.js";

const PAUSE_MS = 100;  // A key that is held down asks for no file.
const BEFORE = 200;
const LINES = 600;
const CONTEXT = 3;

const pane = byId("preview");
const wide = matchMedia("(min-width: 1100px)");
let shown = "";
let controller = new AbortController();

/** Show the file of a link at its lines; `definition` is the hit there, if it is one. Without a link, show nothing. */
export function preview(link, definition) {
  const { href = "" } = link ?? {};
  if (href === shown) return;
  controller.abort();
  controller = new AbortController();
  const { signal } = controller;
  const is_open = !pane.hidden;
  pane.hidden = !link || !wide.matches || load("preview") === "no";
  shown = pane.hidden ? "" : href;
  if (pane.hidden) return;
  if (!is_open) {
    fill(pane, el("p", { class: "hint" }, "Loading …"));
    link.scrollIntoView({ block: "nearest" });
  }
  pane.ariaBusy = "true";
  setTimeout(() => signal.aborted || show(parse(href).at, definition, signal), PAUSE_MS);
}

async function show(at, definition, signal) {
  const { start_line, end_line } = (definition && passageOf(definition)) ?? {};
  const first = Math.max((start_line ?? at.line) - BEFORE, 1);
  const answer = await ask("file", fileParams(at, { first, last: first + LINES - 1 }), signal).catch((error) => error);
  if (signal.aborted) return;
  const { lines = [], line_count, language, message, cure, stale } = answer;
  const part = lines.length < line_count ? `lines ${first} to ${first + lines.length - 1} of ` : "";
  const note = [message, cure].filter(Boolean).join(": ") || (stale && MOVED);
  const code = el("code", {}, ...codeLines(lines, at.root, (line) => address("file", { ...at, line, last: line })));
  for (const link of code.querySelectorAll(".number")) link.tabIndex = -1;
  pane.ariaBusy = "false";
  fill(pane,
    el("div", { class: "head" },
      el("h2", {}, el("a", { href: address("file", at), "data-open": "file", "aria-label": nameAt(at) }, ...breakable(nameAt(at)))),
      line_count && el("span", { class: "facts" }, `${language} · ${part}${amount(line_count, "line")}`),
      el("button", { type: "button", class: "close", "aria-label": "Close the preview", title: "Close (p shows it again)" }, "×")),
    note && el("p", { class: "note" }, ...prose(note)),
    lines.length > 0 && el("pre", { class: "code", tabindex: "0", role: "region", "aria-label": `Code of ${at.path}` }, code));
  if (note) announce(note);
  const lineAt = (line) => code.children[line - first];
  for (let line = at.line; line <= at.last; line += 1) lineAt(line)?.classList.add("selected");
  for (let line = start_line; line <= end_line; line += 1) lineAt(line)?.classList.add("found");
  const top = lineAt(Math.max((start_line ?? at.line) - CONTEXT, first));
  if (top) code.parentElement.scrollTop = top.offsetTop - code.parentElement.offsetTop;
}

/** Close the pane until `openPreview`, also on the next visit. */
export function closePreview() {
  save("preview", "no");
  preview(null);
}

/** Focus the code of the pane, or open it with the file of a link. */
export function openPreview(link, definition) {
  save("preview", "yes");
  if (pane.hidden) preview(link, definition);
  else (pane.querySelector("pre") ?? pane.querySelector("a"))?.focus();
}
