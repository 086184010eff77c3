// The start page: what is indexed.

import { breakable, byId, el, fill } from "./dom.js";
import { address } from "./filters.js";

const LANGUAGES = 4;

export function showHome(status) {
  const begun = Object.entries(status.unfinished ?? {}).map(([root, text]) => el("p", { class: "note" }, `${root}: ${text}`));
  fill(byId("home"), ...(status.roots.length ? indexed(status) : begun.length ? [] : nothing()), ...begun);
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
  return [
    el("h1", {}, "Search code"),
    el("p", { class: "hint" }, "Describe what the code does, type a name, or paste code. ", el("kbd", {}, "?"), " lists the keys."),
    el("h2", {}, "Indexed folders"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))),
    el("p", { class: "hint" }, `codesearch ${version}`),
  ];
}
