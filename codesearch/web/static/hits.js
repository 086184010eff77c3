// The list of hits, lines, usages or commits, and what is above it.

import { ask } from "./api.js";
import { amount, baseName, breakable, byId, codeLines, el, fill, folderName, prose } from "./dom.js";
import { address, fileParams, placeAt } from "./filters.js";
import { editorLink } from "./settings.js";

const DIFF = { "+": "added", "-": "removed", "@": "hunk" };
const NO_DIFF = "No diff: this is the first commit, or it changed nothing here.";
const LONG = 40;  // Lines of a definition whose passage is shown before all of it.
const VIEWS = { lines: linesView, usages: usagesView, history: historyView };

let freshness = [];  // Of the last answer that had it: a search while typing does not look for changed files.

/** Show an answer of the API; `root` and `path` are those of commits. Return the line above the hits. */
export function showAnswer(view, answer, { root, path, more }) {
  const { summary, lines, items } = (VIEWS[view] ?? hitsView)(answer, { root, path });
  fill(byId("summary"), ...prose(summary));
  fill(byId("notes"), ...lines.filter(Boolean).map((note) => el("p", { class: "note" }, ...prose(note))));
  const list = byId("hits");
  const next = more && el("li", { class: "more" }, el("button", { type: "button", id: "more" }, view === "lines" ? "More lines" : "More hits"));
  const focused = document.activeElement.closest(".hit")?.dataset.file;  // An answer must not take the focus away.
  fill(list, ...items, next);
  const files = items.filter(({ dataset }) => dataset.file);
  if (focused) (files.find(({ dataset }) => dataset.file === focused) ?? files[0])?.querySelector(".name").focus();
  return summary;
}

const whereIn = (roots) => ({ root }) => roots.length > 1 && folderName(root, roots);

function hitsView(answer) {
  const { hits, confidence } = answer;
  const found = hits.length ? amount(hits.length, "hit") : "No hits";
  const took = `${found} from ${amount(answer.documents, "document")} in ${Math.round(answer.seconds * 1000)} ms`;
  const where = whereIn(answer.roots);
  const unknown = (answer.unknown_words ?? []).map((word) => `“${word}”`).join(", ");
  const none = answer.filters_match === false ? "No document passes the filters. Clear some of them."
    : "Try other words for what the code does, or a part of its name.";
  return {
    summary: hits.length && confidence != null ? `${took}, confidence ${percent(confidence)}` : took,
    lines: [
      !hits.length ? none : answer.low_confidence && "Probably nothing here does this.",
      unknown && `No definition here has ${unknown}.`,
      ...notes(answer, !hits.length),
    ],
    items: hits.map((hit) => hitItem(hit, where(hit))),
  };
}

const percent = (share) => `${share % 1 ? Math.min(Math.max(Math.round(100 * share), 1), 99) : 100 * share}%`;  // As on the command line.

/** Return what an answer did not see, if that matters, and which folders have changed. */
function notes({ roots, coverage, freshness: states }, is_empty) {
  if (states?.length) freshness = states;
  const shown = freshness.filter((entry) => roots.includes(entry.root) || entry.state === "unreadable");
  const unseen = coverage?.text && (is_empty || coverage.reasons["not read"]);
  return [unseen && `Not seen: ${coverage.text}.`, ...shown.map(({ note }) => note)];
}

function linesView(answer) {
  const { lines, line_count } = answer;
  const count = `${amount(line_count, "line")} in ${amount(answer.file_count, "file")}`;
  const shown = lines.length < line_count ? `, the first ${amount(lines.length, "line")} are shown` : "";
  const none = answer.is_pattern ? "No line matches this regular expression." : "No line has this text.";
  return {
    summary: line_count ? count + shown : "No lines",
    lines: [!line_count && none, ...notes(answer, !line_count)],
    items: fileItems(lines, whereIn(answer.roots)),
  };
}

function usagesView({ name, not_in, definitions, derived, usages, usage_count, grades: counts, file_count, unread_files, near, coverage }) {
  const of_definition = (what) => (one, at) =>
    hitItem({ ...one, kind: `${what} · ${one.kind}`, rank: `${what}-${at}`, label: [one.qualified_name || one.name], snippet: [] });
  const marked = (usage) => ({ ...usage, tokens: usage.text.split(name).flatMap((part, at) => (
    at ? [["text", name, true], ["text", part]] : [["text", part]])) });
  const grades = Map.groupBy(usages.map(marked), ({ grade }) => grade);
  const shown = usages.length < usage_count ? `, the first ${usages.length.toLocaleString("en")} are shown` : "";
  const of_grades = Object.entries(counts).map(([grade, count]) => `${count.toLocaleString("en")} ${grade}`).join(", ");
  const least = unread_files ? "At least " : "";
  return {
    summary: usage_count ? `${least}${amount(usage_count, "usage")} in ${amount(file_count, "file")}: ${of_grades}${shown}` : "No usages",
    lines: [
      not_in && usage_count > 0 && `\`${not_in}\` does not define \`${name}\`: these are all lines with the name.`,
      near.length && `Nearest names: ${near.map((one) => `\`${one}\``).join(", ")}`,
      unread_files && `${amount(unread_files, "file")} may have the name too and took too long to read.`,
      !usages.length && coverage.text && `Not seen: ${coverage.text}.`,
    ],
    items: [...definitions.map(of_definition("definition")), ...derived.map(of_definition("derived")),
      ...[...grades].flatMap(([grade, of_grade]) => [
        el("li", { class: "grade" }, el("h2", {}, grade), el("span", { class: "facts" }, amount(of_grade.length, "line"))),
        ...fileItems(of_grade, () => "", grade)])],
  };
}

/** Return a hit for each file of some lines, which are below the definitions around them. */
function fileItems(lines, where, of = "file") {
  const files = Map.groupBy(lines, ({ root, path }) => `${root}\n${path}`);
  return [...files.values()].map((of_file, at) => {
    const { root, path, line } = of_file[0];
    const hit = { root, path, start_line: line, end_line: 0, rank: `${of.replace(/\W+/g, "-")}-${at}`, label: [path], snippet: [], of_file };
    return hitItem(hit, where(hit));
  });
}

function linesOf({ root, path, of_file }) {
  const definitions = Map.groupBy(of_file, ({ inside }) => inside && `${inside.start_line} ${inside.name}`);
  return [...definitions.values()].flatMap((lines) => {
    const [{ inside, label }] = lines;
    const name = label ?? (inside?.qualified_name || inside?.name);
    const code = excerptOf(lines, { root, path });
    if (!name) return [code];
    const hit = { ...inside, root, path };
    return [el("div", { class: "within" }, el("h3", {}, fileLink(hit, name, {}, ...breakable(name))), unfolder(hit, name),
      el("span", { class: "facts" }, facts(inside))), code];
  });
}

function historyView({ hits, commits, shallow, top }, { root, path }) {
  return {
    summary: `${hits.length ? amount(hits.length, "commit") : "No commits"} of ${commits.toLocaleString("en")} in ${top}`,
    lines: [shallow && "Older commits are missing, because the clone is shallow."],
    items: hits.map((commit) => commitItem(commit, root, path)),
  };
}

/** Return a commit, which unfolds to its message and its diff. */
function commitItem({ rank, id, date, author, subject, body, paths }, root, path) {
  const diff = el("pre", { class: "code diff", tabindex: "-1" });
  const details = el("details", {},
    el("summary", { class: "head name" }, el("h2", { id: `hit-${rank}-name` }, subject),
      el("span", { class: "facts" }, paths.length > 0 && amount(paths.length, "file")),
      el("span", { class: "place" }, el("span", { class: "folder" }, author.replace(/ <.*/, "")),
        el("span", { class: "file" }, `${date} ${id.slice(0, 10)}`))),
    body && el("pre", { class: "code" }, body), diff);
  details.addEventListener("toggle", async () => {
    if (diff.firstChild) return;
    const { lines = [], message = NO_DIFF } = await ask("diff", new URLSearchParams({ root, id, path })).catch((error) => error);
    const start = lines.findIndex((line) => line.startsWith("diff "));
    let is_head = true;
    fill(diff, ...(start < 0 ? [message] : lines.slice(start).map((line) => {
      is_head = line.startsWith("diff ") || (is_head && line[0] !== "@");
      return el("span", { class: `line ${is_head ? "hunk" : DIFF[line[0]] ?? ""}` }, line, "\n");
    })));
  });
  return el("li", { class: "hit", "data-file": id }, el("article", { "aria-labelledby": `hit-${rank}-name` }, details));
}

const fileLink = (hit, name, attributes, ...parts) => el("a", {
  href: address("file", placeAt(hit)), "data-open": "file", "aria-label": name, ...attributes,
}, ...parts);

function hitItem(hit, where) {
  const id = `hit-${hit.rank}`;
  const [name, rest] = hit.label;
  const has_code = hit.snippet.length > 0;
  const is_file = name === hit.path;
  return el("li", { class: "hit", "data-file": `${hit.root}\n${hit.path}` }, el("article", { "aria-labelledby": `${id}-name`, tabindex: "-1" },
    el("div", { class: "head" },
      el("h2", { id: `${id}-name` }, fileLink(hit, name, { class: "name", "aria-describedby": !is_file && `${id}-place` }, ...breakable(name))),
      hit.last_line && unfolder(hit, name),
      !has_code && rest && rest !== hit.kind && el("span", { class: "rest" }, rest),
      el("span", { class: "facts" }, hit.of_file ? amount(hit.of_file.length, "line") : facts(hit), ...flags(hit)),
      actions(placeAt(hit), name, { similar: has_code, usages: has_code && hit.name }),
      is_file ? where && el("div", { class: "place" }, el("span", { class: "root" }, where))
        : el("div", { class: "place", id: `${id}-place` }, ...place(hit, where))),
    has_code && excerptOf(hit.snippet, hit),
    ...(hit.of_file ? linesOf(hit) : []),
    hit.others?.length > 0 && others(hit.others)));
}

const excerptOf = (lines, { root, path }) => el("pre", { class: "code", tabindex: "-1" },
  el("code", {}, ...codeLines(lines, root, (line) => address("file", { root, path, line }))));

// Code in place

/** Return a button that shows the code of a definition below its row, or hides it. */
function unfolder(definition, name) {
  const button = el("button", { type: "button", class: "unfold", "aria-expanded": "false", "aria-label": `Code of ${name}` });
  button.addEventListener("click", () => (button.ariaExpanded === "true" ? fold(button) : unfold(button, definition)));
  return button;
}

function fold(button) {
  button.ariaExpanded = "false";
  rowOf(button).querySelector(":scope > .unfolded").remove();
}

/** Return the row that has an element: the one of a hit, of another definition of its file, or of one around lines. */
export const rowOf = (button) => button.closest(".others li, .within, article");

/** Return the best passage of a long definition, if it has one. */
export const passageOf = ({ start_line, last_line, passages = [] }) => (last_line - start_line < LONG ? undefined : passages[0]);

/** Show the best passage of a long definition, or all of its lines. */
async function unfold(button, definition) {
  const { start_line, last_line } = definition;
  const passage = passageOf(definition) ?? { start_line, end_line: last_line };
  const row = rowOf(button);
  button.ariaExpanded = "true";
  const unfolded = el("div", { class: "unfolded" });
  (row.matches("article") ? row.querySelector(".head") : row.lastChild).after(unfolded);
  const show = async (first, last) => {
    const { lines, stale } = await ask("file", fileParams(definition, { first, last })).catch((error) => ({ lines: [], stale: error }));
    const whole = el("button", { type: "button", class: "whole" }, `All ${amount(last_line - start_line + 1, "line")}`);
    whole.addEventListener("click", () => show(start_line, last_line));
    fill(unfolded, stale && el("p", { class: "note" }, stale.message ?? MOVED), excerptOf(lines, definition),
      (first > start_line || last < last_line) && whole);
  };
  await show(passage.start_line, passage.end_line);
}

/** List other definitions of a file. */
function others(definitions) {
  return el("ul", { class: "others", "aria-label": "Other definitions of the file" }, ...definitions.map((other) => {
    const [name, rest] = other.label;
    return el("li", {},
      el("span", { class: "at" }, String(other.start_line)),
      fileLink(other, name, {}, name),
      unfolder(other, name),
      rest && rest !== other.kind && el("span", { class: "rest" }, rest),
      el("span", { class: "facts" }, other.kind));
  }));
}

export const MOVED = "The file changed after it was indexed: the lines of its definitions may have moved.";

export function facts({ kind, start_line, last_line }) {
  const lines = last_line - start_line + 1;
  return [kind, lines > 1 ? amount(lines, "line") : ""].filter(Boolean).join(" · ");
}

function flags(hit) {
  const copies = hit.copy_count > 0 && el("span", { class: "flag", title: hit.copies.join("\n") },
    `+${amount(hit.copy_count, "copy", "copies")}`);
  return [copies, Boolean(hit.stale) && el("span", { class: "flag warn" }, "changed since it was indexed")];
}

/** Return the place of a hit as nodes: the folder quietly, the file name clearly; before them where it is, if given. */
function place({ path, start_line }, where) {
  const file = baseName(path);
  const folder = path.slice(0, path.length - file.length);
  return [where && el("span", { class: "root" }, where), folder && el("span", { class: "folder", title: path }, folder),
    el("span", { class: "file" }, ...breakable(`${file}:${start_line}`))];
}

/** Return the links and buttons of a place; only a definition has similar ones and usages. */
export function actions(at, name, { similar = true, usages = "", history = false } = {}) {
  const spot = `${baseName(at.path)}:${at.line}`;
  const link = (view, text, key, to) => el("a", { href: address(view, to), "data-open": view,
    "aria-label": `${text} ${view === "similar" ? "to" : "of"} ${view === "history" ? at.path : name}`, title: `${text}${key}` }, text);
  return el("div", { class: "actions" },
    similar && link("similar", "Similar", " (s)", at),
    usages && link("usages", "Usages", " (u)", { ...at, name: usages }),
    history && link("history", "History", "", { ...at, line: 0 }),
    el("a", { href: editorLink(at.root, at.path, at.line), "data-open": "editor",
      "aria-label": `Editor: open ${spot}`, title: "Open in the editor (o)" },
    "Editor"),
    el("button", { type: "button", "data-copy": `${at.path}:${at.line}`, "aria-label": `Copy ${spot}`,
      title: "Copy path and line (y)" }, "Copy"));
}
