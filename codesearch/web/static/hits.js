// The list of hits, and the lines above it.

import { amount, baseName, breakable, byId, el, excerptOf, fill, prose } from "./dom.js";
import { address, placeAt } from "./filters.js";
import { editorLink } from "./settings.js";

let freshness = [];  // Of the last answer that had it: a search while typing does not look for changed files.

/** Show an answer of the API; `asked` is its query or place, `revision` that of a search. */
export function showAnswer(answer, { asked, revision, more }) {
  const whereOf = ({ root }) => revision || (answer.roots.length > 1 && baseName(root));
  fill(byId("summary"), ...prose(summary(answer)));
  fill(byId("notes"), ...notes(answer).map((note) => el("p", { class: "note" }, ...prose(note))));
  const list = byId("hits");
  const items = answer.hits.map((hit) => hitItem(hit, whereOf(hit)));
  const next = more && el("li", { class: "more" }, el("button", { type: "button", id: "more" }, "More hits"));
  const focused = focusedFile();
  if (answer.low_confidence) fill(list, items[0], folded(items.slice(1), next));
  else fill(list, ...items, next);
  list.dataset.query = asked;
  if (focused) (items.find((item) => item.dataset.file === focused) ?? items[0])?.querySelector(".name").focus();
}

/** Return the file of the hit that has the focus. An answer that arrives must not take the focus away. */
const focusedFile = () => document.activeElement.closest(".hit")?.dataset.file;

/** Return the hits below the first of a weak answer, which are only shown if they are asked for. */
function folded(items, next) {
  if (!items.length) return null;
  return el("li", { class: "folded" }, el("details", {},
    el("summary", {}, `${amount(items.length, "weaker hit")}`), el("ol", {}, ...items, next)));
}

/** Write the line above the hits. */
export function summary(answer) {
  const found = answer.hits.length ? amount(answer.hits.length, "hit") : "No hits";
  const took = `${found} from ${amount(answer.documents, "document")} in ${Math.round(answer.seconds * 1000)} ms`;
  return answer.hits.length && answer.confidence != null ? `${took}, confidence ${percent(answer.confidence)}` : took;
}

// 0% and 100% only if they are exact.
function percent(share) {
  const rounded = Math.round(100 * share);
  return `${share > 0 && share < 1 ? Math.min(Math.max(rounded, 1), 99) : rounded}%`;
}

function notes(answer) {
  const found = [];
  if (!answer.hits.length) {
    found.push(answer.filters_match === false
      ? "No document passes the filters. Clear some of them."
      : "Try other words for what the code does, or a part of its name.");
  } else if (answer.low_confidence) {
    found.push("Probably nothing here does this.");
  }
  if (!answer.hits.length && answer.coverage?.text) found.push(`Not seen: ${answer.coverage.text}.`);
  if (answer.freshness?.length) freshness = answer.freshness;
  const shown = freshness.filter((entry) => answer.roots.includes(entry.root) || entry.state === "unreadable");
  for (const { root, state, changes, error } of shown) {
    const changed = changes && changes.to_parse + changes.removed;
    const what = changed
      ? `${amount(changed, "changed file")} of ${root} not in the index yet`
      : `${root} has changed, and a search has no time to find out what`;
    found.push({
      behind: `${what}: run \`codesearch index ${root}\``,
      locked: `Another process is updating the index of ${root}. These hits are from before the update.`,
      unchecked: `${root} was not compared with its index: ${error}`,
      unreadable: `${root} is left out: ${error}`,
    }[state]);
  }
  return found.filter(Boolean);
}

const fileLink = (hit, name, attributes = {}) => el("a", {
  href: address("file", placeAt(hit)), "data-open": "file", "aria-label": name, ...attributes,
}, ...breakable(name));

function hitItem(hit, where) {
  const id = `hit-${hit.rank}`;
  const at = placeAt(hit);
  const name = hit.qualified_name || hit.name || hit.path;
  const about = { "data-file": `${hit.root}\n${hit.path}`, "data-line": hit.start_line };
  return el("li", { class: "hit", ...about }, el("article", { "aria-labelledby": `${id}-name` },
    el("h2", { id: `${id}-name` }, fileLink(hit, name, { class: "name", "aria-describedby": `${id}-place` })),
    el("span", { class: "facts" }, facts(hit), ...flags(hit)),
    el("div", { class: "place", id: `${id}-place` }, ...place(hit, where)),
    actions(at, name, { more: hit.snippet.length > 0 }),
    hit.snippet.length > 0 && excerptOf(hit.snippet),
    hit.others?.length > 0 && others(hit.others),
    hit.reasons.length > 0 && el("ul", { class: "reasons", "aria-label": "Why it is a hit" },
      ...hit.reasons.map((text) => el("li", {}, ...prose(text)))),
  ));
}

/** List other definitions of the file as links. */
function others(definitions) {
  return el("ul", { class: "others", "aria-label": "Other definitions of the file" }, ...definitions.map((other) =>
    el("li", {},
      el("span", { class: "at" }, String(other.start_line)),
      fileLink(other, other.qualified_name || other.name),
      el("span", { class: "facts" }, facts({ ...other, language: "" })))));
}

/** Describe a definition: kind, language and length. */
export function facts({ kind, language, start_line, end_line }) {
  const lines = end_line - start_line + 1;
  return [kind, language, lines > 1 ? amount(lines, "line") : ""].filter(Boolean).join(" · ");
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
  return [where && el("span", { class: "root" }, where), el("span", { class: "folder" }, ...breakable(folder)),
    el("span", { class: "file" }, ...breakable(`${file}:${start_line}`))];
}

/** Return the links and buttons of a place; only a definition has similar ones, and only a hit shows more lines. */
export function actions(at, name, { similar = true, more = false } = {}) {
  const spot = `${baseName(at.path)}:${at.line}`;
  return el("div", { class: "actions" },
    more && el("button", { type: "button", class: "more-lines", "aria-label": `More lines of ${name}` }, "More lines"),
    similar && el("a", { href: address("similar", at), "data-open": "similar",
      "aria-label": `Similar to ${name}`, title: "Similar code (s)" }, "Similar"),
    el("a", { href: editorLink(at.root, at.path, at.line), "data-open": "editor", "data-root": at.root,
      "data-path": at.path, "data-line": at.line, "aria-label": `Editor: open ${spot}`, title: "Open in the editor (o)" },
    "Editor"),
    el("button", { type: "button", "data-copy": `${at.path}:${at.line}`, "aria-label": `Copy ${spot}`,
      title: "Copy path and line (y)" }, "Copy"));
}
