// The query and its filters: a form, the address of a list and the request for it have the same names and values.

import { ApiError, ask } from "./api.js";
import { breakable, byId, el, fill, folderName } from "./dom.js";

const form = byId("filters");
const BOXES = { lang: "languages", kind: "kinds", root: "roots" };
const OF_SIMILAR = ["lang", "kind", "group"];
const UNFOLDED = 8;
const OF_EXACT = ["regex", "ignore_case"];
const OF_FILE = ["q", "mode", ...OF_EXACT];
const TYPED = /(^|\s)(-?)(lang|kind|path):("[^"]*"|\S*)/g;
export const NO_NUMBERS = {};

let folders = [];
let known = { lang: {}, kind: {}, root: {} };  // Numbers of documents.
let numbers = NO_NUMBERS;  // Beside the boxes: of documents on the start page, of all lines with an exact text.

const patterns = (text) => text.split(",").map((part) => part.trim()).filter((part) => part.replace("!", ""));

/** Return the query and the filters of the form, without those that are empty. */
export function formParams(q = byId("query").value) {
  const params = new URLSearchParams(q && { q });
  for (const [name, text] of new FormData(form)) {
    if (OF_EXACT.includes(name) && form.mode.value !== "exact") continue;
    for (const value of name === "path" ? patterns(text) : [text.trim()]) if (value) params.append(name, value);
  }
  return params;
}

/** Return what is asked: a filter that is typed in the query, such as `lang:python` or `-path:tests/`, is one of the others. */
export function asked() {
  const params = formParams();
  const typed = params.get("q") ?? "";
  const rest = typed.replace(TYPED, (word, before, not, name, text) => {
    const value = text.replaceAll('"', "");
    if (!value || (not && name !== "path")) return word;
    for (const one of completions(name, value)) params.append(name, (not && "!") + one);
    return before;
  });
  params.delete("q");
  if (rest.trim()) params.set("q", rest === typed ? typed : rest.trim());  // White space is a part of exact text.
  return params;
}

/** Return the value itself, or all languages or kinds that begin with it, or a pattern for such paths. */
function completions(name, value) {
  if (name === "path") return [/[*?[\]/]$/.test(value) ? value : `${value}*`];
  const longer = Object.keys(known[name]).filter((one) => one.startsWith(value));
  return longer.includes(value) || !longer.length ? [value] : longer;
}

/** Return the values that a filter can have. Those of a path are the folders and files of a folder. */
export async function valuesOf(name, typed) {
  if (name !== "path") return Object.keys(known[name]).sort((one, other) => known[name][other] - known[name][one]);
  const folder = typed.replace(/[^/]*$/, "");
  const chosen = formParams("").getAll("root");
  const lists = await Promise.all((chosen.length ? chosen : folders).map((root) => ask("tree", new URLSearchParams({ root, path: folder }))));
  return [...new Set(lists.flatMap((list) => [...list.folders.map((one) => `${one}/`), ...list.files]))].map((one) => folder + one);
}

/** Make the form show a query and filters, also those that match nothing. */
export function setForm(params) {
  byId("query").value = params.get("q") ?? "";
  for (const name of Object.keys(BOXES)) showBoxes(name, params.getAll(name));
  for (const control of form.elements) {
    if (OF_EXACT.includes(control.name)) control.checked = params.has(control.name);
    if (control.type === "checkbox") continue;
    const values = params.getAll(control.name);
    control.value = values.join(", ");
    if (control.options && control.value !== values.join()) control.add(new Option(values[0], values[0], true, true));
  }
  byId("groups").hidden = form.group.options.length < 2;
}

/** Make boxes for what is indexed, and call `changed` when the user changes a filter. */
export function setUpFilters({ roots, groups }, params, changed) {
  folders = roots.map(({ root }) => root);
  known = {
    lang: total(roots.map(({ languages }) => languages)),
    kind: total(roots.map(({ kinds }) => kinds)),
    root: roots.length > 1 ? Object.fromEntries(roots.map(({ root, documents }) => [root, documents])) : {},
  };
  form.group.replaceChildren(form.group.options[0], ...Object.keys(groups).sort().map((name) => new Option(name, name)));
  form.onchange = ({ target }) => {
    // A group and folders exclude each other.
    if (target.name === "root") form.group.value = "";
    if (target.name === "group") showBoxes("root", []);
    changed({ typing: false });
  };
  form.oninput = ({ target }) => { if (target.name === "path") changed({ typing: true }); };
  form.onsubmit = (event) => event.preventDefault();
  byId("chips").onclick = ({ target: { dataset } }) => {
    const kept = dataset.name ? [...formParams()].filter(([name, value]) => name !== dataset.name || value !== dataset.value) : [];
    setForm(new URLSearchParams(dataset.name ? kept : { q: byId("query").value }));
    changed({ typing: false });
    byId("query").focus();
  };
  setForm(params);
}

/** Show numbers beside the boxes: those of an answer, or none; by default, of documents. */
export function showNumbers(counts = known) {
  if (counts === numbers) return;
  numbers = counts;
  for (const name of Object.keys(BOXES)) showBoxes(name);
}

export function showChips() {
  const params = [...formParams("")];
  const of = JSON.stringify([params, folders]);
  if (byId("chips").dataset.of === of) return;  // A click on a chip must find it where it was.
  byId("chips").dataset.of = of;
  fill(byId("chips"), ...params.map(([name, value]) => {
    const control = form.querySelector(`select[name="${name}"]`);
    const label = BOXES[name] ? byId(BOXES[name]).firstElementChild : byId(form.elements[name].id).labels[0];
    const text = control?.selectedOptions[0]?.text ?? (name === "root" ? folderName(value, folders) : value);
    return el("button", { type: "button", class: "chip", "data-name": name, "data-value": value,
      "aria-label": `Remove ${label.textContent} ${text}`, title: "Remove this filter" },
    OF_EXACT.includes(name) ? label.textContent : `${label.textContent}: ${text}`);
  }), el("button", { type: "button", id: "clear-filters" }, "Clear filters"));
  byId("chips").hidden = !params.length;
  byId("show-filters").textContent = params.length ? `Filters (${params.length})` : "Filters";
}

/** Show a box for each value that is indexed or chosen; those after the first eight are folded. */
function showBoxes(name, chosen = formParams("").getAll(name)) {
  const fields = byId(BOXES[name]);
  const focused = fields.contains(document.activeElement) && document.activeElement.value;
  const counts = numbers[name] ?? NO_NUMBERS;
  const values = [...new Set([...Object.keys(known[name]), ...chosen])];
  const compare = (of) => (one, other) => (of[other] ?? 0) - (of[one] ?? 0);
  values.sort((one, other) => compare(counts)(one, other) || compare(known[name])(one, other) || one.localeCompare(other));
  const boxes = values.map((value) => box(name, value, counts[value], chosen.includes(value)));
  const rest = boxes.slice(UNFOLDED);
  const is_open = rest.some((one) => one.querySelector(":checked")) || fields.querySelector("details")?.open;
  fill(fields, fields.firstElementChild, ...boxes.slice(0, UNFOLDED),
    rest.length > 0 && el("details", { open: Boolean(is_open) }, el("summary", {}, `${rest.length} more`), ...rest));
  fields.hidden = !boxes.length;
  if (focused !== false) [...fields.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
}

function total(all) {
  const sums = {};
  for (const [name, count] of all.flatMap(Object.entries)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function box(name, value, count, checked) {
  const input = el("input", { type: "checkbox", name, value });
  input.checked = checked;
  return el("label", { title: name === "root" && value }, input,
    el("span", { class: "value" }, ...breakable(name === "root" ? folderName(value, folders) : value)),
    el("span", { class: "count", "aria-hidden": "true" }, count > 0 && count.toLocaleString("en")));
}

// Addresses

/** Return what an address names: a view, "" for a list of hits, and what it is about: a place with marked lines, or a name. */
export function parse(text) {
  const { pathname, searchParams: params, hash } = new URL(text);
  const given = params.get("view");
  const view = pathname.endsWith("/file") ? "file" : ["similar", "usages", "history"].includes(given) ? given : "";
  const [root, path] = (view === "file" ? ["root", "path"] : ["in", "file"]).map((name) => params.get(name));
  const name = view === "usages" ? params.get("name") : null;
  const numbers = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash)?.slice(1) ?? [params.get("line")];
  const lines = numbers.filter(Boolean).map(Number);
  const at = { root, path, name, line: lines.length ? Math.min(...lines) : 0, last: lines.length ? Math.max(...lines) : 0 };
  if (!(view && root && (name ?? path))) return { view: "", at: null, params };
  return { view, at, params: view === "file" ? only(params, ...OF_FILE) : params };
}

/** Return what the API and the commands call a place: the path and the line, if there is one. */
export const nameAt = ({ path, line }) => `${path}${line ? `:${line}` : ""}`;

export const placeAt = ({ root, path, start_line, end_line }) => ({ root, path, line: start_line, last: end_line });

export const only = (params, ...names) => new URLSearchParams([...params].filter(([name]) => names.includes(name)));

/** Return the parameters of a file, for the API, which knows no mode for commits, or for an address. */
export function fileParams({ root, path }, range = {}, params = asked()) {
  const kept = [...only(params, ...OF_FILE)].filter(([, value]) => value !== "history");
  return new URLSearchParams([...Object.entries({ root, path, ...range }), ...kept]);
}

/** Return the filters of the list that a file does not have. */
export const ofList = () => [...formParams("")].filter(([name]) => !OF_FILE.includes(name));

/** Return the address of a view, with the query and the filters of the form. */
export function address(view, at, params = formParams()) {
  if (view === "file") {
    const lines = at.line ? `#L${at.line}${at.last > at.line ? `-L${at.last}` : ""}` : "";
    return `file?${fileParams(at, {}, params)}${lines}`;
  }
  const place = {
    similar: () => ({ view, in: at.root, file: at.path, line: at.line }),
    usages: () => ({ view, in: at.root, name: at.name, ...(at.path && { file: at.path, line: at.line }) }),
    history: () => ({ view, in: at.root, file: at.path }),
  };
  for (const [name, value] of Object.entries(place[view]?.() ?? {})) params.set(name, value);
  return params.size ? `./?${params}` : "./";
}

export function listRequest({ view, at }) {
  const params = asked();
  if (view === "history") return ["history", new URLSearchParams({ root: at.root, path: at.path })];
  if (view === "usages") {
    return ["usages", new URLSearchParams([["root", at.root], ["name", at.path ? nameAt(at) : at.name], ...only(params, "lang", "path")])];
  }
  if (!view && params.get("mode") === "history") {
    const [path = ""] = params.getAll("path").filter((pattern) => !/[*?!]/.test(pattern));
    if (!params.has("root") && folders.length > 1) {
      const choices = folders.map((root) => el("a", { "data-open": "search", class: "choice", title: root,
        href: address("", null, new URLSearchParams([...formParams(), ["root", root]])) }, folderName(root, folders)));
      throw new ApiError("Commits are searched in one folder", "choose it", choices);
    }
    return ["history", new URLSearchParams({ root: params.get("root") ?? folders[0] ?? "", q: params.get("q") ?? "", path })];
  }
  if (!view && params.get("mode") === "exact") {
    params.delete("mode");
    return ["lines", params];
  }
  if (!view) return ["search", params];
  const similar = new URLSearchParams({ root: at.root, path: at.path, line: at.line });
  for (const [name, value] of params) {
    if (name === "root" || name === "path") similar.append(`filter_${name}`, value);
    else if (OF_SIMILAR.includes(name)) similar.append(name, value);
  }
  return ["similar", similar];
}
