// Lines of code as nodes.

import { breakable, el } from "./dom.js";

/**
 * Return a block of code. A line is {line, text, tokens}. A token is [kind, text, marked], where `marked` is true for
 * words of the query; without tokens the text is shown plain. The lines of an excerpt lose their common indent, and
 * they wrap between words on a narrow screen.
 */
export function codeBlock(lines, { excerpt = false, linked = false, attributes = {} } = {}) {
  return el("pre", { class: "code", ...attributes }, el("code", {}, ...codeLines(lines, { excerpt, linked })));
}

/** Return the lines of a block; linked ones have an id, and their numbers are links to them. */
export function codeLines(lines, { excerpt = false, linked = false }) {
  const cut = excerpt ? commonIndent(lines) : 0;
  return lines.map((line) => {
    const attributes = linked ? { id: `L${line.line}` } : { "data-line": line.line };
    return el("span", { class: "line", ...attributes }, linked && numberLink(line.line), ...codeOf(line, cut, excerpt), "\n");
  });
}

// Not reached by Tab, because a file has thousands of them.
const numberLink = (line) => el("a", {
  class: "number", href: `#L${line}`, "data-line": line, tabindex: "-1", "aria-label": `Line ${line}`,
});

function codeOf({ text, tokens }, cut, wraps) {
  const parts = tokens?.length ? tokens : [["text", text]];
  return withoutStart(parts, cut).flatMap((part) => token(part, wraps));
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
