// The start page: examples, and what is indexed.

import { breakable, byId, el, fill, folderName } from "./dom.js";
import { address, formParams } from "./filters.js";

const LANGUAGES = 4;
const EXAMPLES = 3;

/** Show the start page; the examples come from the folders that the filters allow. */
export function showHome(status) {
  fill(byId("home"), ...(status.roots.length ? [examples(status), indexed(status)] : nothing()));
}

function examples({ roots, groups }) {
  const params = formParams();
  const group = params.get("group");
  const only = group ? groups[group] ?? [] : params.getAll("root");
  const chosen = roots.filter(({ root }) => !only.length || only.includes(root));
  const all = [0, 1, 2].flatMap((position) => chosen.map((root) => root.examples[position])).filter(Boolean);
  const links = [...new Set(all)].slice(0, EXAMPLES).map((q) =>
    el("li", {}, el("a", { href: address("", null, formParams(q)), "data-open": "search" }, q)));
  const where = only.length ? ` in ${group || only.map((root) => folderName(root, roots.map((one) => one.root))).join(", ")}` : "";
  return el("div", {},
    el("h1", {}, `Search code${where}`),
    el("p", { class: "hint" }, "Describe what the code does, type a name, or paste code. ", el("kbd", {}, "?"), " lists the keys."),
    links.length > 0 && el("div", { id: "examples" },
      el("h2", {}, "Examples from the documentation of this code"),
      el("ul", {}, ...links)));
}

const nothing = () => [
  el("h1", {}, "Nothing is indexed yet"),
  el("p", {}, "Index a folder, then reload this page:"),
  el("pre", { class: "code" }, el("code", {}, "codesearch index ~/src/project")),
];

function indexed({ roots, version }) {
  const rows = roots.map(({ root, documents, files, languages }) => el("tr", {},
    el("th", { scope: "row" }, el("a", {
      href: address("", null, new URLSearchParams({ root })), "data-open": "search", "aria-label": root,
    }, ...breakable(root))),
    el("td", { class: "count" }, documents.toLocaleString("en")),
    el("td", { class: "count" }, files.toLocaleString("en")),
    el("td", {}, Object.keys(languages).sort((one, other) => languages[other] - languages[one]).slice(0, LANGUAGES).join(", "))));
  const head = ["Folder", "Documents", "Files", "Languages"].map((text, position) =>
    el("th", { scope: "col", class: (position === 1 || position === 2) && "count" }, text));
  return el("div", {},
    el("h2", {}, "Indexed folders"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))),
    el("p", { class: "hint" }, `codesearch ${version}`));
}
