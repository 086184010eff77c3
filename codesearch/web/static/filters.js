// The query and its filters: a form, the address of a list and the request for it have the same names and values.

import { baseName, breakable, byId, el } from "./dom.js";

const form = byId("filters");
const BOXES = { lang: "languages", kind: "kinds", root: "roots" };
const OF_SIMILAR = ["lang", "kind", "content", "group"];

const patterns = (text) => text.split(",").map((part) => part.trim()).filter((part) => part.replace("!", ""));

/** Return the query and the filters of the form, without those that are empty. */
export function formParams(q = byId("query").value) {
  const params = new URLSearchParams(q && { q });
  for (const [name, text] of new FormData(form)) {
    for (const value of name === "path" ? patterns(text) : [text.trim()]) if (value) params.append(name, value);
  }
  return params;
}

/** Make the form show a query and filters, also those that match nothing. */
export function setForm(params) {
  byId("query").value = params.get("q") ?? "";
  for (const [name, id] of Object.entries(BOXES)) {
    const known = [...byId(id).querySelectorAll("input")].map(({ value }) => value);
    byId(id).append(...params.getAll(name).filter((value) => !known.includes(value)).map((value) => box(name, value)));
    byId(id).hidden = byId(id).children.length < 2;
  }
  for (const control of form.elements) {
    const values = params.getAll(control.name);
    if (control.type === "checkbox") control.checked = values.includes(control.value);
    else control.value = values.join(", ");
    if (control.options && control.value !== values.join()) control.add(new Option(values[0], values[0], true, true));
  }
  byId("groups").hidden = form.group.options.length < 2;
}

/** Make a box for each language, kind and folder that is indexed, and call `changed` when the user changes a filter. */
export function setUpFilters({ roots, groups }, params, changed) {
  const counts = {
    lang: total(roots.map(({ languages }) => languages)),
    kind: total(roots.map(({ kinds }) => kinds)),
    root: roots.length > 1 ? Object.fromEntries(roots.map(({ root, documents }) => [root, documents])) : {},
  };
  for (const [name, id] of Object.entries(BOXES)) {
    const rows = Object.entries(counts[name]).sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]));
    byId(id).replaceChildren(byId(id).firstElementChild, ...rows.map((row) => box(name, ...row)));
  }
  form.group.replaceChildren(form.group.options[0], ...Object.keys(groups).sort().map((name) => new Option(name, name)));
  form.onchange = ({ target }) => {
    // A group and folders exclude each other.
    if (target.name === "root") form.group.value = "";
    if (target.name === "group") for (const box of byId("roots").querySelectorAll("input")) box.checked = false;
    changed({ typing: false });
  };
  form.oninput = ({ target }) => { if (target.name === "path") changed({ typing: true }); };
  form.onsubmit = (event) => event.preventDefault();
  byId("clear-filters").onclick = () => {
    setForm(new URLSearchParams({ q: byId("query").value }));
    changed({ typing: false });
    byId("query").focus();
  };
  setForm(params);
}

/** Write how many filters are set. */
export function countFilters() {
  const count = [...formParams("")].length;
  byId("clear-filters").hidden = !count;
  byId("show-filters").textContent = count ? `Filters (${count})` : "Filters";
}

function total(all) {
  const sums = {};
  for (const [name, count] of all.flatMap(Object.entries)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

const box = (name, value, count = 0) => el("label", { title: name === "root" && value },
  el("input", { type: "checkbox", name, value }),
  el("span", { class: "value" }, ...breakable(name === "root" ? baseName(value) : value)),
  el("span", { class: "count", "aria-hidden": "true" }, count && count.toLocaleString("en")));

// Addresses

/**
 * Return what an address names: `view` is "" for a list of hits, "similar" for hits like the definition at `at`, or
 * "file" for the file of `at`, whose lines from `line` to `last` are marked; 0 for none.
 */
export function parse(text) {
  const { pathname, searchParams: params, hash } = new URL(text);
  const view = pathname.endsWith("/file") ? "file" : params.get("view") === "similar" ? "similar" : "";
  const [root, path] = (view === "file" ? ["root", "path"] : ["in", "file"]).map((name) => params.get(name));
  const numbers = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash)?.slice(1) ?? [params.get("line")];
  const lines = numbers.filter(Boolean).map(Number);
  const at = { root, path, line: lines.length ? Math.min(...lines) : 0, last: lines.length ? Math.max(...lines) : 0 };
  return view && root && path ? { view, at, params } : { view: "", at: null, params };
}

/** Return the place of a definition of an answer. */
export const placeAt = ({ root, path, start_line, end_line }) => ({ root, path, line: start_line, last: end_line });

/** Return the parameters of a file, the same for the address and for the API. */
export function fileParams({ root, path }, range = {}) {
  const q = byId("query").value;
  return new URLSearchParams({ root, path, ...(q && { q }), ...range });
}

/** Return the address of a view, with the query and the filters of the form. */
export function address(view, at, params = formParams()) {
  if (view === "file") {
    const lines = at.line ? `#L${at.line}${at.last > at.line ? `-L${at.last}` : ""}` : "";
    return `file?${fileParams(at)}${lines}`;
  }
  const place = view ? { view, in: at.root, file: at.path, line: at.line } : {};
  for (const [name, value] of Object.entries(place)) params.set(name, value);
  return params.size ? `./?${params}` : "./";
}

/** Return name and parameters of the request for the hits of a view. */
export function listRequest({ view, at }) {
  const params = formParams();
  if (!view) return ["search", params];
  const asked = new URLSearchParams({ root: at.root, path: at.path, line: at.line });
  for (const [name, value] of params) {
    if (name === "root" || name === "path") asked.append(`filter_${name}`, value);
    else if (OF_SIMILAR.includes(name)) asked.append(name, value);
  }
  return ["similar", asked];
}
