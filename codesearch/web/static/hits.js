// The list of hits, usages or commits, and the lines above it.

import { amount, baseName, breakable, byId, el, excerptOf, fill, folderName, prose } from "./dom.js";
import { address, placeAt } from "./filters.js";
import { editorLink } from "./settings.js";

const SHORT_ID = 10;
const MOST_PATHS = 20;
const VIEWS = { usages: usagesView, history: historyView };

let freshness = [];  // Of the last answer that had it: a search while typing does not look for changed files.

/**
 * Show an answer of the API; `asked` is its query, place or name, `root` that of commits.
 * Return the line above the hits.
 */
export function showAnswer(view, answer, { asked, root, more }) {
  const { summary, lines, items } = (VIEWS[view] ?? hitsView)(answer, { root });
  fill(byId("summary"), ...prose(summary));
  fill(byId("notes"), ...lines.map((note) => el("p", { class: "note" }, ...prose(note))));
  const list = byId("hits");
  const next = more && el("li", { class: "more" }, el("button", { type: "button", id: "more" }, "More hits"));
  const focused = focusedFile();
  fill(list, ...items, next);
  list.dataset.query = asked;
  if (focused) (items.find((item) => item.dataset.file === focused) ?? items[0])?.querySelector(".name").focus();
  return summary;
}

/** Return the file of the hit that has the focus. An answer that arrives must not take the focus away. */
const focusedFile = () => document.activeElement.closest(".hit")?.dataset.file;

function hitsView(answer) {
  const whereOf = ({ root }) => answer.roots.length > 1 && folderName(root, answer.roots);
  const outside = (answer.outside_files ?? []).map((file, at) => ({ ...file, rank: `outside-${at}`, label: [file.path] }));
  const hits = [...answer.hits, ...outside];
  const found = hits.length ? (answer.mode === "exact" ? exactCount(answer, hits) : amount(hits.length, "hit")) : "No hits";
  const took = `${found} from ${amount(answer.documents, "document")} in ${Math.round(answer.seconds * 1000)} ms`;
  const is_sure = answer.hits.length && answer.confidence != null;
  return {
    summary: is_sure ? `${took}, confidence ${percent(answer.confidence)}` : took,
    lines: notes(answer, hits.length),
    items: hits.map((hit) => hitItem(hit, whereOf(hit))),
  };
}

function exactCount({ lines, files }, hits) {
  const shown = new Set(hits.map(({ root, path }) => `${root}\n${path}`)).size;
  const rest = shown < files ? `, ${shown.toLocaleString("en")} of them shown` : "";
  return `${amount(lines, "line")} in ${amount(files, "file")}${rest},`;
}

const percent = (share) => `${share % 1 ? Math.min(Math.max(Math.round(100 * share), 1), 99) : 100 * share}%`;  // As on the command line.

function notes(answer, count) {
  const found = [];
  if (!count) {
    found.push(answer.filters_match === false
      ? "No document passes the filters. Clear some of them."
      : answer.mode === "exact" ? "No code has exactly this text. Upper and lower case differ."
        : "Try other words for what the code does, or a part of its name.");
  } else if (answer.low_confidence) {
    found.push("Probably nothing here does this.");
  }
  const unknown = (answer.unknown_words ?? []).map((word) => `“${word}”`).join(", ");
  if (unknown) found.push(`No definition here has ${unknown}.`);
  if (answer.coverage?.text && (!count || answer.coverage.reasons["not read"])) found.push(`Not seen: ${answer.coverage.text}.`);
  if (answer.freshness?.length) freshness = answer.freshness;
  const shown = freshness.filter((entry) => answer.roots.includes(entry.root) || entry.state === "unreadable");
  return [...found, ...shown.map(({ note }) => note)].filter(Boolean);
}

function usagesView({ name, definitions, derived, usages, usage_count, file_count, unread_files, near, coverage }) {
  const of_definition = (what) => (one, at) =>
    hitItem({ ...one, rank: `${what}-${at}`, label: [one.qualified_name || one.name, what], snippet: [] });
  const files = Map.groupBy(usages, ({ root, path }) => `${root}\n${path}`);
  const of_files = [...files.values()].map((of_file, at) => {
    const [{ root, path }] = of_file;
    const others = of_file.map((usage) => ({ ...usage, start_line: usage.line, end_line: usage.line,
      nodes: marked(usage.text.trim(), name), kind: [usage.inside?.name, usage.grade].filter(Boolean).join(" · ") }));
    return hitItem({ root, path, start_line: of_file[0].line, end_line: 0, rank: `usages-${at}`, label: [path], snippet: [], others });
  });
  const shown = usages.length < usage_count ? `, the first ${usages.length.toLocaleString("en")} are shown` : "";
  const lines = [
    near.length && `Nearest names: ${near.map((one) => `\`${one}\``).join(", ")}`,
    unread_files && `${amount(unread_files, "file")} may have the name too and took too long to read.`,
    !usages.length && coverage.text && `Not seen: ${coverage.text}.`,
  ];
  const least = unread_files ? "At least " : "";
  return {
    summary: `${least}${amount(usage_count, "usage")} in ${amount(file_count, "file")}${shown}. Text is compared, not types.`,
    lines: lines.filter(Boolean),
    items: [...definitions.map(of_definition("definition")), ...derived.map(of_definition("derived")), ...of_files],
  };
}

const marked = (text, name) => text.split(name).flatMap((part, at) => (at ? [el("mark", {}, name), part] : [part]));

function historyView({ hits, commits, shallow, top, indexed }, { root }) {
  return {
    summary: `${hits.length ? amount(hits.length, "commit") : "No commits"} of ${commits.toLocaleString("en")} in ${top}`,
    lines: [shallow && "Older commits are missing, because the clone is shallow."].filter(Boolean),
    items: hits.map((commit) => commitItem(commit, root, indexed)),
  };
}

function commitItem({ rank, id, date, author, subject, body, paths, definitions }, root, indexed) {
  const linked = paths.slice(0, MOST_PATHS).map((path) => {
    const names = definitions.filter((one) => one.path === path).map((one) => one.name).join(", ");
    const file = indexed[path] && address("file", { root, path: indexed[path], line: 0 });
    return el("li", {}, file ? el("a", { href: file, "data-open": "file" }, path) : path, el("span", { class: "facts" }, names));
  });
  const rest = paths.length - linked.length;
  return el("li", { class: "hit", "data-file": id }, el("article", { "aria-labelledby": `hit-${rank}-name` }, el("details", {},
    el("summary", { class: "head name" }, el("h2", { id: `hit-${rank}-name` }, subject),
      el("span", { class: "place" }, el("span", { class: "folder" }, author.replace(/ <.*/, "")),
        el("span", { class: "file" }, `${date} ${id.slice(0, SHORT_ID)}`))),
    body && el("pre", { class: "code" }, body),
    el("ul", { class: "others" }, ...linked, rest > 0 && el("li", {}, amount(rest, "more file"))))));
}

const fileLink = (hit, name, attributes, ...parts) => el("a", {
  href: address("file", placeAt(hit)), "data-open": "file", "aria-label": name, ...attributes,
}, ...parts);

function hitItem(hit, where) {
  const id = `hit-${hit.rank}`;
  const [name, rest] = hit.label;
  const has_code = hit.snippet.length > 0;
  return el("li", { class: "hit", "data-file": `${hit.root}\n${hit.path}` }, el("article", { "aria-labelledby": `${id}-name` },
    el("div", { class: "head" },
      el("h2", { id: `${id}-name` }, fileLink(hit, name, { class: "name", "aria-describedby": `${id}-place` }, ...breakable(name))),
      !has_code && rest && rest !== hit.kind && el("span", { class: "rest" }, rest),
      el("span", { class: "facts" }, facts(hit), ...flags(hit)),
      actions(placeAt(hit), name, { similar: has_code && !hit.outside, usages: has_code && hit.name }),
      name !== hit.path && el("div", { class: "place", id: `${id}-place` }, ...place(hit, where))),
    ...(has_code ? excerpt(hit) : []),
    hit.others?.length > 0 && others(hit.others)));
}

/** Return the code of a hit, and a button that shows all of its passages in place. */
function excerpt({ snippet, more = [], root, label }) {
  const code = excerptOf(snippet, root);
  if (more.length <= snippet.length) return [code];
  const button = el("button", { type: "button", class: "show-more", "aria-label": `Show more of ${label[0]}` }, "Show more");
  button.addEventListener("click", () => {
    const whole = excerptOf(more, root);
    code.replaceWith(whole);
    button.remove();
    whole.focus();
  });
  return [code, button];
}

/** List other definitions of a file, or lines of it, as links. */
function others(definitions) {
  return el("ul", { class: "others", "aria-label": "Other definitions of the file" }, ...definitions.map((other) => {
    const [name, rest] = other.label ?? [other.text.trim(), ""];
    return el("li", {},
      el("span", { class: "at" }, String(other.start_line)),
      fileLink(other, name, {}, ...(other.nodes ?? [name])),
      rest && rest !== other.kind && el("span", { class: "rest" }, rest),
      el("span", { class: "facts" }, other.kind));
  }));
}

export function facts({ kind, start_line, last_line }) {
  const lines = last_line - start_line + 1;
  return [kind, lines > 1 ? amount(lines, "line") : ""].filter(Boolean).join(" · ");
}

function flags(hit) {
  const copies = hit.copy_count > 0 && el("span", { class: "flag", title: hit.copies.join("\n") },
    `+${amount(hit.copy_count, "copy", "copies")}`);
  const outside = hit.outside && `${amount(hit.outside, "line")} outside of definitions`;
  return [copies, outside, Boolean(hit.stale) && el("span", { class: "flag warn" }, "changed since it was indexed")];
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
    "aria-label": `${text} ${view === "similar" ? "to" : "of"} ${name}`, title: `${text} (${key})` }, text);
  return el("div", { class: "actions" },
    similar && link("similar", "Similar", "s", at),
    usages && link("usages", "Usages", "u", { ...at, name: usages }),
    history && el("a", { href: address("", null, new URLSearchParams({ mode: "history", root: at.root, path: at.path })),
      "data-open": "search", "aria-label": `History of ${at.path}` }, "History"),
    el("a", { href: editorLink(at.root, at.path, at.line), "data-open": "editor",
      "aria-label": `Editor: open ${spot}`, title: "Open in the editor (o)" },
    "Editor"),
    el("button", { type: "button", "data-copy": `${at.path}:${at.line}`, "aria-label": `Copy ${spot}`,
      title: "Copy path and line (y)" }, "Copy"));
}
