// Lines of code as nodes.

import { breakable, el } from "./dom.js";

/**
 * Return a block of code. A line is {line, text, tokens}. A token is [kind, text, marked], where `marked` is true for
 * words of the query; without tokens the text is shown plain. The lines of an excerpt lose their common indent, and
 * they wrap between words on a narrow screen.
 */
export function codeBlock(lines, { excerpt = false, attributes = {} } = {}) {
  const cut = excerpt ? commonIndent(lines) : 0;
  return el("pre", { class: "code", ...attributes }, el("code", {}, ...lines.map((line) => codeLine(line, cut, excerpt))));
}

function codeLine({ line, text, tokens }, cut, wraps) {
  const parts = tokens?.length ? tokens : [["text", text]];
  return el("span", { class: "line", "data-line": line }, ...withoutStart(parts, cut).flatMap((part) => token(part, wraps)), "\n");
}

function token([kind, text, marked], wraps) {
  const parts = wraps ? breakable(text) : [text];
  if (kind === "text" && !marked) return parts;
  return el(marked ? "mark" : "span", { class: `t-${kind.replace(/[^a-z-]/g, "")}` }, ...parts);
}

function withoutStart(tokens, count) {
  const kept = [];
  for (const [kind, text, marked] of tokens) {
    if (count < text.length) kept.push([kind, text.slice(count), marked]);
    count = Math.max(0, count - text.length);
  }
  return kept;
}

function commonIndent(lines) {
  const indents = lines.filter(({ text }) => text.trim()).map(({ text }) => /^[ \t]*/.exec(text)[0]);
  if (!indents.length) return 0;
  const [first] = indents;
  let length = Math.min(...indents.map((indent) => indent.length));
  while (length && !indents.every((indent) => indent.startsWith(first.slice(0, length)))) length -= 1;
  return length;
}
