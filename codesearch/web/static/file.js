// A file, with the tree of its folder and the outline of its definitions.

import { ask } from "./api.js";
import { amount, breakable, byId, codeLines, el, fill, folderName } from "./dom.js";
import { address, fileParams, formParams, only } from "./filters.js";
import { actions, facts, MOVED } from "./hits.js";

const AT_ONCE = 50_000;  // Lines of an answer, and those of a part that is coloured when it is seen.
const PART = 500;
const MANY = 15;  // Definitions of an outline that has a filter.

let shown = { key: "", found: null, first: 0, last: 0 };

const keyOf = (at) => fileParams(at).toString();

/** Return the parameters of a request for the part of a file that has a line. */
export const partParams = (at) => fileParams(at, { first: Math.max(at.line - AT_ONCE / 2, 1) });

/** Say whether the part of a file with a line is already on the page. */
export const isFileShown = (at) => shown.key === keyOf(at) && (!at.line || (shown.first <= at.line && at.line <= shown.last));

/** Show an answer of `file`; `hits` are the definitions of the file that are hits. */
export function showFile(found, at, { folders, hits }) {
  shown = { key: keyOf(at), found, first: found.lines[0]?.line ?? 1, last: found.lines.at(-1)?.line ?? 0 };
  fill(byId("file"),
    el("div", { class: "side" }, tree.element, outline(found, at, hits)),
    el("div", { class: "source" },
      el("div", { class: "about" },
        el("button", { type: "button", class: "back", title: "Back (Esc)" }, "← Back"),
        el("h1", { tabindex: "-1", "aria-label": found.path },
          folders && el("span", { class: "root", title: found.root }, folderName(found.root, folders)), ...pathLinks(at)),
        el("span", { class: "facts" }, `${found.language} · ${amount(found.line_count, "line")}`),
        el("div", { id: "selection" })),
      found.stale && el("p", { class: "note" }, MOVED),
      found.lines.length < found.line_count && el("p", { class: "note" },
        `Lines ${shown.first.toLocaleString("en")} to ${shown.last.toLocaleString("en")} are shown.`),
      el("pre", { class: "code", tabindex: "0", role: "region", "aria-label": `Code of ${found.path}` },
        el("code", {}, ...partsOf(codeLines(found.lines, found.root), found)))));
  for (const { start_line } of hits) lineOf(start_line)?.classList.add("found");
}

/** Return the lines, in parts that get their colours when they are seen if the answer has none. */
function partsOf(lines, { lines: [{ tokens: [[kind] = []] } = { tokens: [] }] }) {
  if (kind !== "plain") return lines;
  const colour = new IntersectionObserver((entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(async ({ target }) => {
    colour.unobserve(target);
    const [first, last] = [target.firstChild, target.lastChild].map(({ id }) => id.slice(1));
    const answer = await ask("file", fileParams(shown.found, { first, last }));
    const coloured = codeLines(answer.lines, answer.root);
    coloured.forEach((line, at) => { line.className = target.children[at].className; });
    target.replaceChildren(...coloured);
  }), { rootMargin: "500px" });
  return Array.from({ length: Math.ceil(lines.length / PART) }, (_, at) => {
    const part = el("span", { class: "part" }, ...lines.slice(at * PART, (at + 1) * PART));
    colour.observe(part);
    return part;
  });
}

/** Return the parts of a path; each folder is a link to what the query finds in it. */
function pathLinks({ root, path }) {
  const parts = path.split(/(?<=\/)/);
  return parts.map((part, at) => (at === parts.length - 1 ? el("span", {}, ...breakable(part)) : el("a", { "data-open": "search",
    href: address("", null, new URLSearchParams([...only(formParams(), "q", "mode"), ["root", root], ["path", parts.slice(0, at + 1).join("")]])),
  }, ...breakable(part))));
}

/** Mark lines, and say which definition they are in. */
export function selectLines({ root, path, line, last }) {
  for (const marked of byId("file").querySelectorAll(".line.selected")) marked.classList.remove("selected");
  for (let number = Math.max(line, shown.first); number && number <= Math.min(last, shown.last); number += 1) {
    lineOf(number)?.classList.add("selected");
  }
  const around = shown.found.definitions.filter((one) => one.start_line <= line && line <= one.last_line);
  const inner = around.reduce((best, one) => (best && best.start_line > one.start_line ? best : one), null);
  for (const link of byId("file").querySelectorAll(".outline a")) {
    link.removeAttribute("aria-current");
    if (Number(link.dataset.line) !== inner?.start_line) continue;
    link.setAttribute("aria-current", "true");
    link.scrollIntoView({ block: "nearest" });
  }
  const name = inner?.qualified_name || inner?.name || path;
  const { line_count } = shown.found;
  fill(byId("selection"),
    line > line_count && el("p", { class: "note" }, `There is no line ${line}: the file has ${amount(line_count, "line")}.`),
    inner && el("span", { class: "name" }, ...breakable(name)),
    inner && el("span", { class: "facts" }, facts(inner)),
    actions({ root, path, line: line || 1 }, name, { similar: inner !== null, usages: inner?.name, history: shown.found.definition_count > 0 }));
}

// The tree

const wide = matchMedia("(min-width: 861px)");
let tree = { root: null, element: null };  // It stays while files of the same folder are shown.

/** Make the tree of a folder; `showPath` fills it. */
export function setUpTree(root) {
  if (tree.root === root) return;
  const element = el("nav", { class: "tree", "aria-label": "Files" },
    el("details", { "data-path": "", open: wide.matches }, el("summary", {}, "Files")));
  tree = { root, element };
  element.addEventListener("toggle", ({ target }) => target.open && list(root, target), true);
}

export async function showPath({ root, path }) {
  const { element } = tree;
  let folder = element.firstElementChild;
  const parts = path.split("/");
  for (let depth = 0; folder && depth < parts.length; depth += 1) {
    await list(root, folder);
    if (depth) folder.open = true;
    const within = parts.slice(0, depth + 1).join("/");
    folder = [...folder.querySelectorAll("details")].find((one) => one.dataset.path === within);
  }
  for (const link of element.querySelectorAll("a")) {
    link.toggleAttribute("aria-current", link.dataset.path === path);
    if (link.dataset.path === path) link.scrollIntoView({ block: "nearest" });
  }
}

async function list(root, folder) {
  if (folder.dataset.listed) return;
  folder.dataset.listed = "yes";
  const { path } = folder.dataset;
  const within = (name) => (path ? `${path}/${name}` : name);
  const { folders, files } = await ask("tree", new URLSearchParams({ root, path }));
  folder.append(el("ul", {},
    ...folders.map((name) => el("li", {}, el("details", { "data-path": within(name) }, el("summary", {}, name)))),
    ...files.map((name) => el("li", {}, el("a", { href: address("file", { root, path: within(name), line: 0 }), "data-open": "file",
      "data-path": within(name), title: name }, name)))));
}

export const lineOf = (number) => byId(`L${number}`);

function outline(found, { root, path }, hits) {
  const starts = new Set(hits.map(({ start_line }) => start_line));
  const rest = found.definition_count - found.definitions.length;
  const items = found.definitions.filter(({ kind }) => kind !== "module").map((one) => (
    el("li", { class: `depth-${Math.min(one.depth, 4)}` }, el("a", {
      href: address("file", { root, path, line: one.start_line, last: one.end_line }), "data-open": "file",
      "data-line": one.start_line, title: one.signature, class: starts.has(one.start_line) && "found", "aria-label": one.name,
    }, ...breakable(one.name)))));
  return items.length > 0 && el("nav", { class: "outline", "aria-label": "Outline" }, el("details", { open: wide.matches },
    el("summary", {}, "Outline"),
    items.length > MANY && filterOf(items),
    el("ul", {}, ...items),
    rest > 0 && el("p", { class: "hint" }, `${amount(rest, "more definition")} not listed`)));
}

/** Return a field that hides the items without its text. */
function filterOf(items) {
  const field = el("input", { type: "text", placeholder: "Filter", "aria-label": "Filter the outline" });
  const has = ({ textContent }) => textContent.toLowerCase().includes(field.value.toLowerCase());
  field.oninput = () => items.forEach((item) => { item.hidden = !has(item); });
  return field;
}
