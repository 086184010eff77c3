// Completes the filters that are typed in the search: lang:, kind:, path: and -path:.

import { byId, el, fill } from "./dom.js";

const MOST = 8;
const WORD = /(?:^|\s)(lang|kind|-?path):(\S*)$/;

const box = byId("query");
const list = byId("completions");
let start = 0;  // Where the completed value begins.
let chosen = -1;

const close = () => show([]);

function show(values) {
  chosen = -1;
  fill(list, ...values.map((value, at) => el("li", { role: "option", id: `completion-${at}`, "aria-selected": "false" }, value)));
  list.hidden = !values.length;
  box.setAttribute("aria-expanded", String(!list.hidden));
  box.removeAttribute("aria-activedescendant");
}

function choose(at) {
  const options = [...list.children];
  chosen = (at + options.length) % options.length;
  options.forEach((option, position) => option.setAttribute("aria-selected", String(position === chosen)));
  box.setAttribute("aria-activedescendant", `completion-${chosen}`);
}

/** Put a value into the search. A folder may go on. */
function accept(value) {
  box.setRangeText(value.endsWith("/") ? value : `${value} `, start, box.selectionEnd, "end");
  box.dispatchEvent(new Event("input"));
}

function pressed(event) {
  const action = !list.hidden && {
    ArrowDown: () => choose(chosen + 1),
    ArrowUp: () => choose(Math.max(chosen, 0) - 1),
    Escape: close,
    Enter: chosen >= 0 && (() => accept(list.children[chosen].textContent)),
    Tab: !event.shiftKey && (() => accept(list.children[Math.max(chosen, 0)].textContent)),
  }[event.key];
  if (!action || event.isComposing) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

export function setUpCompletion(valuesOf) {
  box.addEventListener("input", async () => {
    const typed = box.value.slice(0, box.selectionEnd);
    const [, name, value] = WORD.exec(typed) ?? [];
    if (!name) return close();
    const values = await valuesOf(name.replace("-", ""), value).catch(() => []);
    if (box.value.slice(0, box.selectionEnd) !== typed) return;  // More was typed meanwhile.
    start = typed.length - value.length;
    show(values.filter((one) => one.startsWith(value) && one !== value).slice(0, MOST));
  });
  box.addEventListener("keydown", pressed);
  box.addEventListener("blur", close);
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();  // The search keeps the focus.
    accept(event.target.textContent);
  });
}
