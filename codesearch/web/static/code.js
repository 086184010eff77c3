// Lines of code as nodes.

import { el } from "./dom.js";

/**
 * Return a block of code. A line is {line, text, tokens}, where tokens are [kind, text] pairs; without tokens the text
 * is shown plain.
 */
export function codeBlock(lines, { dedent = false, attributes = {} } = {}) {
  const cut = dedent ? commonIndent(lines) : 0;
  return el("pre", { class: "code", ...attributes }, el("code", {}, ...lines.map((line) => codeLine(line, cut))));
}

function codeLine({ line, text, tokens }, cut) {
  const parts = tokens?.length ? tokens : [["text", text]];
  return el("span", { class: "line", "data-line": line }, ...withoutStart(parts, cut).map(token), "\n");
}

function token([kind, text]) {
  return kind === "text" ? text : el("span", { class: `t-${kind.replace(/[^a-z-]/g, "")}` }, text);
}

function withoutStart(tokens, count) {
  const kept = [];
  for (const [kind, text] of tokens) {
    if (count < text.length) kept.push([kind, text.slice(count)]);
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

const MARKED = 3;

/** Mark the words of a query in the code below an element, if the browser can do so without changing nodes. */
export function markWords(parent, query) {
  if (!CSS.highlights) return;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.filter((word) => word.length >= MARKED) ?? [];
  const ranges = words.length ? [...rangesOf(parent, words)] : [];
  CSS.highlights.set("query", new Highlight(...ranges));
}

function* rangesOf(parent, words) {
  for (const line of parent.querySelectorAll(".line")) {
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;  // Offsets would not match.
      for (const word of words) {
        for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + word.length)) {
          yield new StaticRange({
            startContainer: node, startOffset: start, endContainer: node, endOffset: start + word.length,
          });
        }
      }
    }
  }
}
