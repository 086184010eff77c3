// Builds nodes. Text from the server becomes text nodes only, never markup.

/** Replace the children of an element; strings become text, and what is null, false or empty is left out. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== false && child !== ""));
  return element;
}

/** Return an element with attributes and children, which are as in `fill`. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  return fill(element, ...children);
}

/** Return the element with an id. */
export const byId = (id) => document.getElementById(id);

/** Return the parts of a text; a part in backticks becomes a code element. */
export function prose(text) {
  return text.split("`").map((part, position) => (position % 2 ? el("code", {}, part) : part));
}

/** Write a number with its noun: "1 hit", "12,345 hits". */
export function amount(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** Return the last part of a path. */
export const baseName = (path) => path.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || path;

let announcement;

/** Announce a text to screen readers. If another one follows within the delay, only that one is announced. */
export function announce(text, delay_ms = 500) {
  clearTimeout(announcement);
  announcement = setTimeout(() => { byId("live").textContent = text; }, delay_ms);
}

let vanish;

/** Show a short message at the bottom for two seconds. */
export function toast(text) {
  const box = byId("toast");
  box.textContent = text;
  box.hidden = false;
  announce(text, 0);
  clearTimeout(vanish);
  vanish = setTimeout(() => { box.hidden = true; }, 2000);
}
