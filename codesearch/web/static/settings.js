// What stays in this browser: the token and the editor. Without storage everything still works.

import { byId } from "./dom.js";

const PREFIX = "codesearch.";

export function load(name, fallback) {
  try {
    return localStorage.getItem(PREFIX + name) ?? fallback;
  } catch {
    return fallback;
  }
}

export function save(name, text) {
  try {
    localStorage.setItem(PREFIX + name, text);
  } catch {
    // The browser blocks storage, or it is full.
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
