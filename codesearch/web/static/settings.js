// What stays in this browser, settings and recent searches, and the dialogs. Without storage everything still works.

import { byId, el, fill, toast } from "./dom.js";

const PREFIX = "codesearch.";
const RECENT = 12;

export function load(name, fallback) {
  try {
    return localStorage.getItem(PREFIX + name) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keep a text, or forget it if it is null. */
export function save(name, text) {
  try {
    if (text === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
  } catch {
    // The browser blocks storage, or it is full.
  }
}

/** Return the recent searches as query strings of this page, newest first. */
export function recentSearches() {
  try {
    const found = JSON.parse(load("recent", "[]"));
    return Array.isArray(found) ? found.filter((entry) => typeof entry === "string") : [];
  } catch {
    return [];
  }
}

export function rememberSearch(address) {
  const others = recentSearches().filter((entry) => entry !== address);
  save("recent", JSON.stringify([address, ...others].slice(0, RECENT)));
}

export const forgetSearches = () => save("recent", null);

const PRESETS = {
  "VS Code": "vscode://file{path}:{line}",
  VSCodium: "vscodium://file{path}:{line}",
  Cursor: "cursor://file{path}:{line}",
  Zed: "zed://file{path}:{line}",
  "Sublime Text": "subl://open?url=file://{path}&line={line}",
  "IntelliJ IDEA": "idea://open?file={path}&line={line}",
  PyCharm: "pycharm://open?file={path}&line={line}",
  WebStorm: "webstorm://open?file={path}&line={line}",
  GoLand: "goland://open?file={path}&line={line}",
  CLion: "clion://open?file={path}&line={line}",
  MacVim: "mvim://open?url=file://{path}&line={line}",
};
const CUSTOM = "Custom";
const SCHEMES = [
  "vscode", "vscode-insiders", "vscodium", "cursor", "windsurf", "zed", "subl", "sublime", "idea", "pycharm",
  "webstorm", "goland", "clion", "phpstorm", "rubymine", "rider", "jetbrains", "mvim", "nvim", "vim", "gvim",
  "emacs", "txmt", "kate", "helix", "editor",
];
const DEFAULT = PRESETS["VS Code"];

/** Return why a template cannot be used, or "" if it can. */
function problem(template) {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(template)?.[1];
  if (!scheme) return "Begin with the scheme of an editor, such as vscode://";
  if (!SCHEMES.includes(scheme)) return `${scheme}:// is not allowed. Allowed are ${SCHEMES.join(", ")}`;
  return template.includes("{path}") ? "" : "{path} is missing";
}

function template() {
  const chosen = load("editor", DEFAULT);
  return problem(chosen) ? DEFAULT : chosen;
}

/** Return the link of a line of a file. */
export function editorLink(root, path, line) {
  const absolute = `${root.replace(/[\\/]+$/, "")}/${path}`.replaceAll("\\", "/");
  const encoded = (absolute.startsWith("/") ? absolute : `/${absolute}`)
    .split("/").map(encodeURIComponent).join("/");
  return template().replaceAll("{path}", () => encoded).replaceAll("{line}", () => String(line));
}

const THEMES = { "": "Auto", light: "Light", dark: "Dark" };

/** Call `changed()` when the links to the editor, or the recent searches, have changed. */
export function setUpDialogs(changed) {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
  byId("open-help").addEventListener("click", () => openDialog("help"));
  byId("open-settings").addEventListener("click", () => openDialog("settings"));
  byId("clear-history").addEventListener("click", () => {
    forgetSearches();
    toast("Recent searches cleared");
    changed();
  });
  setUpEditor(changed);
  setUpTheme();
}

export const openDialog = (id) => byId(id).showModal();
export const isDialogOpen = () => Boolean(document.querySelector("dialog[open]"));

/** Ask for the token of the service, then call `given()`. */
export function askForToken(given) {
  const use = () => {
    save("token", byId("token").value.trim() || null);
    byId("token").value = "";
    byId("access").close();
    given();
  };
  byId("use-token").onclick = use;
  byId("token").onkeydown = (event) => { if (event.key === "Enter") use(); };
  if (!isDialogOpen()) openDialog("access");
}

function setUpEditor(changed) {
  const [select, input] = [byId("editor"), byId("template")];
  select.append(...[...Object.keys(PRESETS), CUSTOM].map((name) => el("option", { value: name }, name)));
  input.value = template();
  const sync = () => {
    const known = Object.entries(PRESETS).find(([, text]) => text === input.value);
    select.value = known?.[0] ?? CUSTOM;
    const wrong = problem(input.value);
    input.setAttribute("aria-invalid", String(Boolean(wrong)));
    byId("template-state").textContent = wrong;
    if (wrong) return;
    save("editor", input.value);
    changed();
  };
  select.addEventListener("change", () => {
    if (select.value === CUSTOM) return input.focus();
    input.value = PRESETS[select.value];
    return sync();
  });
  input.addEventListener("input", sync);
  sync();
}

function setUpTheme() {
  const button = byId("theme");
  const { dataset } = document.documentElement;
  const label = () => fill(button, el("span", { class: "word" }, "Theme: "), THEMES[dataset.theme ?? ""]);
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(dataset.theme ?? "") + 1) % names.length];
    if (next) dataset.theme = next;
    else delete dataset.theme;
    save("theme", next || null);
    label();
  });
  label();
}
