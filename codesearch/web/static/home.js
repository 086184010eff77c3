// The start page: examples, what is indexed, and recent searches.

import { amount, baseName, breakable, byId, el, fill } from "./dom.js";
import { forgetSearches, recentSearches } from "./settings.js";
import { EMPTY, address, parse } from "./state.js";

const LANGUAGES = 4;
const EXAMPLES = 3;

/** Show the start page; the examples come from the folders that the filters allow. */
export function showHome(status, state) {
  fill(byId("home"), ...(status.roots.length ? [examples(status, state), indexed(status), recent()] : [nothing()]));
}

function examples({ roots, groups }, state) {
  const only = state.group ? groups[state.group] ?? [] : state.root;
  const chosen = roots.filter(({ root }) => !only.length || only.includes(root));
  const all = [0, 1, 2].flatMap((place) => chosen.map((root) => root.examples[place])).filter(Boolean);
  const links = [...new Set(all)].slice(0, EXAMPLES).map((q) => el("li", {}, searchLink({ ...state, q }, q)));
  const where = only.length ? ` in ${state.group || only.map(baseName).join(", ")}` : "";
  return el("div", {},
    el("h1", {}, `Search code${where}`),
    el("p", { class: "hint" }, "Describe what the code does, type a name, or paste code. ", el("kbd", {}, "?"), " lists the keys."),
    links.length > 0 && el("div", { id: "examples" },
      el("h2", {}, "Examples from the documentation of this code"),
      el("ul", {}, ...links)));
}

const searchLink = (state, ...text) => el("a", { href: address(state), "data-open": "search" }, ...text);
const folderLink = (root) => el("a", {
  href: address({ ...EMPTY, root: [root] }), "data-open": "search", "aria-label": root,
}, ...breakable(root));

function nothing() {
  return el("div", { class: "empty" },
    el("h1", {}, "Nothing is indexed yet"),
    el("p", {}, "Index a folder, then reload this page:"),
    el("pre", { class: "code" }, el("code", {}, "codesearch index ~/src/project")));
}

function indexed({ roots, version }) {
  const rows = roots.map((root) => el("tr", {},
    el("th", { scope: "row" }, folderLink(root.root)),
    el("td", { class: "count" }, root.documents.toLocaleString("en")),
    el("td", { class: "count" }, root.files.toLocaleString("en")),
    el("td", {}, languages(root.languages))));
  const head = ["Folder", "Documents", "Files", "Languages"].map((text, position) =>
    el("th", { scope: "col", class: position === 1 || position === 2 ? "count" : null }, text));
  return el("div", {},
    el("h2", {}, "Indexed folders"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))),
    el("p", { class: "hint" }, `codesearch ${version}`));
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
    el("ul", {}, ...searches.map(parse).map((state) => el("li", {}, searchLink(state, ...describe(state))))),
    el("button", { type: "button" }, "Clear recent searches"));
  box.querySelector("button").addEventListener("click", () => {
    forgetSearches();
    box.remove();
    byId("query").focus();
  });
  return box;
}

function describe(state) {
  const filters = [...state.lang, ...state.kind, ...state.path, ...state.root, state.group, state.revision, state.content].filter(Boolean);
  return [state.q, filters.length > 0 && el("span", { class: "facts" }, filters.join(", "))];
}
