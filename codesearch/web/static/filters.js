// The form of filters.

import { baseName, breakable, byId, el } from "./dom.js";
import { hasFilters, withoutFilters } from "./state.js";

const CHOICES = ["content", "mode", "flat", "group", "revision"];
const BOXES = { lang: "languages", kind: "kinds", root: "roots" };

let indexed = {};  // Numbers of documents.

/** Make a box for each language, kind and folder, and call `changed(filters, {typing})` when the user changes one. */
export function setUpFilters(status, state, changed) {
  indexed = {
    lang: total(status.roots.map((root) => root.languages)),
    kind: total(status.roots.map((root) => root.kinds)),
    root: status.roots.length > 1 ? Object.fromEntries(status.roots.map((root) => [root.root, root.documents])) : {},
  };
  for (const [name, id] of Object.entries(BOXES)) {
    for (const value of state[name]) indexed[name][value] ??= 0;
    fillBoxes(byId(id), name, indexed[name]);
  }
  fillGroups(Object.keys(status.groups), state.group);
  const form = byId("filters");
  form.onchange = (event) => changed(withoutOther(event.target, chosen()), { typing: false });
  form.oninput = (event) => { if (event.target.id === "path") changed(chosen(), { typing: true }); };
  form.onsubmit = (event) => event.preventDefault();
  byId("clear-filters").onclick = () => {
    changed(withoutFilters(chosen()), { typing: false });
    byId("query").focus();
  };
  showCounts(null);
  syncFilters(state);
}

/** Make the form show the filters of a state. */
export function syncFilters(state) {
  for (const name of Object.keys(BOXES)) {
    for (const box of boxes(name)) box.checked = state[name].includes(box.value);
  }
  const path = byId("path");
  if (patterns(path.value).join() !== state.path.join()) path.value = state.path.join(", ");
  for (const name of CHOICES) byId(name).value = state[name];
  byId("clear-filters").hidden = !hasFilters(state);
  const count = ["lang", "kind", "path", "root"].reduce((sum, name) => sum + state[name].length, 0)
    + CHOICES.filter((name) => state[name]).length;
  byId("show-filters").textContent = count ? `Filters (${count})` : "Filters";
}

/** Write how many hits each box stands for, or without hits, how many documents. */
export function showCounts(hits) {
  byId("counts-hint").textContent = hits ? "Numbers count the hits that are shown." : "Numbers count indexed documents.";
  const fields = { lang: "language", kind: "kind", root: "root" };
  for (const [name, field] of Object.entries(fields)) {
    for (const box of boxes(name)) {
      const count = hits ? hits.filter((hit) => hit[field] === box.value).length : indexed[name][box.value];
      box.parentElement.querySelector(".count").textContent = count ? count.toLocaleString("en") : "";
    }
  }
}

function chosen() {
  const marked = (name) => boxes(name).filter((box) => box.checked).map((box) => box.value);
  return {
    lang: marked("lang"), kind: marked("kind"), root: marked("root"), path: patterns(byId("path").value),
    ...Object.fromEntries(CHOICES.map((name) => [name, byId(name).value.trim()])),
  };
}

/** A group and folders exclude each other: the one that was chosen last stays. */
function withoutOther(control, filters) {
  if (control.name === "root") return { ...filters, group: "" };
  return control.id === "group" && filters.group ? { ...filters, root: [] } : filters;
}

const boxes = (name) => [...byId(BOXES[name]).querySelectorAll("input")];
const patterns = (text) => text.split(",").map((pattern) => pattern.trim()).filter((pattern) => pattern.replace("!", ""));

function total(all) {
  const sums = {};
  const counts = all.flatMap((one) => Object.entries(one ?? {}));
  for (const [name, count] of counts) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function fillGroups(names, chosen) {
  const shown = [...new Set([...names, chosen])].filter(Boolean).sort();
  byId("groups").hidden = !shown.length;
  const select = byId("group");
  select.replaceChildren(select.options[0], ...shown.map((name) => el("option", { value: name }, name)));
}

function fillBoxes(fieldset, name, counts) {
  const rows = Object.entries(counts).sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]));
  fieldset.hidden = !rows.length;
  fieldset.replaceChildren(fieldset.querySelector("legend"), ...rows.map(([value]) =>
    el("label", { title: name === "root" ? value : null },
      el("input", { type: "checkbox", name, value }),
      el("span", { class: "value" }, ...breakable(name === "root" ? baseName(value) : value)),
      el("span", { class: "count", "aria-hidden": "true" }))));
}
