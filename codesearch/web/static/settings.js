// What stays in this browser: the token and the editor. Without storage everything still works.

import { byId } from "./dom.js";

const PREFIX = "codesearch.";

export const load = (name, fallback) => stored(() => localStorage.getItem(PREFIX + name)) ?? fallback;
export const save = (name, text) => stored(() => localStorage.setItem(PREFIX + name, text));

/** Use the storage, unless the browser blocks it or it is full. */
function stored(use) {
  try {
    return use();
  } catch {
    return undefined;
  }
}

let template;

export function editorLink(root, path, line) {
  const absolute = `${root.replace(/[\\/]+$/, "")}/${path}`.replaceAll("\\", "/");
  const encoded = (absolute.startsWith("/") ? absolute : `/${absolute}`).split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", () => encoded).replaceAll("{line}", () => String(line));
}

/** Use the chosen editor, also after another one is chosen. Only links of the list are used. */
export function setUpEditor() {
  const select = byId("editor");
  select.value = load("editor", "");
  if (!select.value) select.selectedIndex = 0;
  template = select.value;
  select.onchange = () => {
    save("editor", select.value);
    location.reload();  // It makes the links again.
  };
}
