// The whole definition of a hit.

import { codeBlock } from "./code.js";
import { breakable, byId, el, fill } from "./dom.js";
import { actions, facts, place } from "./hits.js";

/** Show an answer of `document`. */
export function showDefinition(found, state, { several }) {
  const name = found.qualified_name || found.name || found.path;
  const lines = found.lines ?? [];
  const code = lines.map(({ text }) => text).join("\n");
  const at = { root: found.root, path: found.path, line: found.start_line };
  const section = byId("document");
  fill(section,
    el("button", { type: "button", class: "back", title: "Back (Esc)" }, "← Back"),
    el("h1", { tabindex: "-1" }, ...breakable(name)),
    el("span", { class: "facts" }, facts(found)),
    el("div", { class: "place" }, ...place(found, several)),
    actions(found, at, name, state),
    ...documentation(found, code),
    lines.length
      ? codeBlock(lines, { attributes: { tabindex: "0", role: "region", "aria-label": `Code of ${name}` } })
      : el("p", { class: "note" }, "The file has changed or is gone, so there is no code to show."),
  );
  section.dataset.place = `${found.path}:${found.start_line}`;
}

// In some languages the documentation is inside the code.
function documentation({ signature, docstring }, code) {
  const first = docstring?.trim().split("\n")[0] ?? "";
  return [
    code || !signature ? null : el("p", { class: "signature" }, signature),
    first && !code.includes(first) ? el("p", { class: "docs" }, docstring.trim()) : null,
  ];
}
