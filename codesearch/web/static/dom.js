// Builds nodes, also of code. Text from the server becomes text nodes only, never markup.

// The characters that codesearch/visible.py replaces, without the ends of lines and tabs.
const UNSAFE = new RegExp("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
  + "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff"
  + "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]", "gu");

/** Return text with escapes for control characters and invisible ones, which can make code read differently. */
function visible(text) {
  return text.replace(UNSAFE, (character) => {
    const number = character.codePointAt(0).toString(16);
    const [letter, digits] = number.length < 3 ? ["x", 2] : number.length < 5 ? ["u", 4] : ["U", 8];
    return `\\${letter}${number.padStart(digits, "0")}`;
  });
}

/** Replace the children of an element; strings become visible text, and what is empty is left out. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter(Boolean).map((child) => (typeof child === "string" ? visible(child) : child)));
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

export const byId = (id) => document.getElementById(id);

/** Return the parts of a text; a part in backticks becomes a code element. */
export function prose(text) {
  return text.split("`").map((part, position) => (position % 2 ? el("code", {}, part) : part));
}

/**
 * Return the words of a name, a path or code. A line is broken between them, and inside of one only if it is too long.
 * Screen readers read the parts as words, so links and headings also need an `aria-label`.
 */
export function breakable(text) {
  return text.split(/\/|:\d+$/.test(text) ? /(?<=\/)/ : /(?<=\.|::)/).map((word) => {
    const parts = word.split(/(?<=[^\p{L}\p{N}\s])(?=[\p{L}\p{N}])|(?<=\p{Ll})(?=\p{Lu})/u);
    return el("span", { class: "word" }, ...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
  });
}

export function amount(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

export const baseName = (path, count = 1) => path.split(/[\\/]/).filter(Boolean).slice(-count).join("/") || path;

/** Return as many of the last parts of a folder's path as tell it from other folders. */
export function folderName(root, roots) {
  const others = roots.filter((other) => other !== root);
  let count = 1;
  while (count < root.length && others.some((other) => baseName(other, count) === baseName(root, count))) count += 1;
  return baseName(root, count);
}

let announcement;

/** Announce a text to screen readers. If another one follows within the delay, only that one is announced. */
export function announce(text, delay_ms = 500) {
  clearTimeout(announcement);
  announcement = setTimeout(() => { byId("live").textContent = text; }, delay_ms);
}

/**
 * Return lines of code of a folder. A line is {line, text, tokens}. A token is [kind, text, marked], where `marked` is true
 * for words of the query. Names are links to their usages. Lines of a file have an id, and their numbers are links to
 * them. Those of an excerpt lose their common indent, and their numbers are links to what `place` returns.
 */
export function codeLines(lines, root, place = null) {
  const cut = place ? commonIndent(lines) : 0;
  const usages = `./?${new URLSearchParams({ view: "usages", in: root, q: byId("query").value })}&name=`;
  return lines.map(({ line, tokens: [[kind, text, is_marked] = ["text", ""], ...rest] }) => {
    const code = linked([[kind, text.slice(cut), is_marked], ...rest], usages);
    // Numbers of a file are not reached by Tab, because there are thousands of them.
    const number = { class: "number", href: place ? place(line) : `#L${line}`, "data-line": line, "aria-label": `Line ${line}`,
      tabindex: place ? false : "-1", "data-open": place && "file" };
    return el("span", { class: "line", id: !place && `L${line}` }, el("a", number), ...code, "\n");
  });
}

const WORDS = /([\p{L}\p{N}_$]+)/u;
const NAMED = ["text", "function", "type", "builtin"];

/** Return the nodes of tokens; a name, of which a part may be marked, is a link. */
function linked(tokens, usages) {
  const nodes = [];
  let name = [];
  const close = () => {
    const text = name.map(({ textContent }) => textContent).join("");
    const href = usages + encodeURIComponent(text);
    nodes.push(...(/^\D./u.test(text) ? [el("a", { class: "use", tabindex: "-1", href, "data-open": "usages" }, ...name)] : name));
    name = [];
  };
  for (const [kind, text, is_marked] of tokens) {
    for (const part of (NAMED.includes(kind) ? text.split(WORDS) : [text]).filter(Boolean)) {
      const is_word = NAMED.includes(kind) && WORDS.test(part);
      if (!is_word) close();
      const of_class = { class: `t-${kind.replace(/[^a-z-]/g, "")}` };
      (is_word ? name : nodes).push(is_marked || is_word || kind !== "text" ? el(is_marked ? "mark" : "span", of_class, part) : part);
    }
  }
  close();
  return nodes;
}

const commonIndent = (lines) =>
  Math.min(...lines.filter(({ text }) => text.trim()).map(({ text }) => /^[ \t]*/.exec(text)[0].length));
