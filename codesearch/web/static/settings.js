// What stays in this browser: the token and the link to the editor. Without storage everything still works.

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

/** Return the link of a line of a file. */
export function editorLink(root, path, line) {
  const absolute = `${root.replace(/[\\/]+$/, "")}/${path}`.replaceAll("\\", "/");
  const encoded = (absolute.startsWith("/") ? absolute : `/${absolute}`).split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", () => encoded).replaceAll("{line}", () => String(line));
}

/** Call `changed()` when the links to the editor have changed. Only templates that match the pattern of the field are used. */
export function setUpEditor(changed) {
  const [select, input] = [byId("editor"), byId("template")];
  const sync = () => {
    select.value = [...select.options].some(({ value }) => value === input.value) ? input.value : "";
    if (!input.value || !input.checkValidity()) return false;
    template = input.value;
    return true;
  };
  input.value = load("editor", "");
  if (!sync()) {
    input.value = select.options[0].value;
    sync();
  }
  input.addEventListener("input", () => {
    if (!sync()) return;
    save("editor", template);
    changed();
  });
  select.addEventListener("change", () => {
    input.value = select.value;
    input.dispatchEvent(new Event("input"));
    if (!input.value) input.focus();
  });
}
