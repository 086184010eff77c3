// The start page: what is indexed, and recent searches.

import { amount, byId, el, fill, prose } from "./dom.js";
import { parse } from "./state.js";
import { forgetSearches, recentSearches } from "./storage.js";

const LANGUAGES = 4;

export function showHome(status) {
  fill(byId("home"), ...(status.roots.length ? [indexed(status), recent()] : [nothing()]));
}

function nothing() {
  return el("div", { class: "empty" },
    el("h1", {}, "Nothing is indexed yet"),
    el("p", {}, ...prose("Index a folder, then reload this page:")),
    el("pre", { class: "code" }, el("code", {}, "codesearch index ~/src/project")));
}

function indexed({ roots, version }) {
  const rows = roots.map((root) => el("tr", {},
    el("th", { scope: "row" }, root.root),
    el("td", { class: "count" }, root.documents.toLocaleString("en")),
    el("td", { class: "count" }, root.files.toLocaleString("en")),
    el("td", {}, languages(root.languages))));
  const head = ["Folder", "Documents", "Files", "Languages"].map((text, position) =>
    el("th", { scope: "col", class: position === 1 || position === 2 ? "count" : null }, text));
  return el("div", {},
    el("h1", {}, "Indexed folders"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))),
    el("p", { class: "hint" }, `codesearch ${version}. Describe what the code does, type a name, or paste code. `,
      el("kbd", {}, "?"), " lists the keys."));
}

function languages(counts) {
  const names = Object.entries(counts ?? {}).sort((one, other) => other[1] - one[1]).map(([name]) => name);
  const others = names.length - LANGUAGES;
  return names.slice(0, LANGUAGES).join(", ") + (others > 0 ? ` and ${amount(others, "other")}` : "");
}

function recent() {
  const searches = recentSearches();
  if (!searches.length) return null;
  const box = el("div", { id: "recent" },
    el("h2", {}, "Recent searches"),
    el("ul", {}, ...searches.map((address) => el("li", {}, el("a", { href: address, "data-open": "search" },
      ...describe(parse(address)))))),
    el("button", { type: "button" }, "Clear recent searches"));
  box.querySelector("button").addEventListener("click", () => {
    forgetSearches();
    box.remove();
    byId("query").focus();
  });
  return box;
}

function describe(state) {
  const filters = [...state.lang, ...state.kind, ...state.path, ...state.root, state.content].filter(Boolean);
  return [state.q, filters.length > 0 && el("span", { class: "facts" }, filters.join(", "))];
}
