// Links that open a file in an editor.

import { load, save } from "./storage.js";

export const PRESETS = {
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
export const CUSTOM = "Custom";
const SCHEMES = [
  "vscode", "vscode-insiders", "vscodium", "cursor", "windsurf", "zed", "subl", "sublime", "idea", "pycharm",
  "webstorm", "goland", "clion", "phpstorm", "rubymine", "rider", "jetbrains", "mvim", "nvim", "vim", "gvim",
  "emacs", "txmt", "kate", "helix", "editor",
];
const DEFAULT = PRESETS["VS Code"];

/** Return why a template cannot be used, or "" if it can. */
export function problem(template) {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(template)?.[1];
  if (!scheme) return "Begin with the scheme of an editor, such as vscode://";
  if (!SCHEMES.includes(scheme)) return `${scheme}:// is not allowed. Allowed are ${SCHEMES.join(", ")}`;
  return template.includes("{path}") ? "" : "{path} is missing";
}

export function template() {
  const chosen = load("editor", DEFAULT);
  return problem(chosen) ? DEFAULT : chosen;
}

export const chooseTemplate = (text) => save("editor", text);

/** Return the link of a line of a file. */
export function editorLink(root, path, line) {
  const absolute = `${root.replace(/[\\/]+$/, "")}/${path}`.replaceAll("\\", "/");
  const encoded = (absolute.startsWith("/") ? absolute : `/${absolute}`)
    .split("/").map(encodeURIComponent).join("/");
  return template().replaceAll("{path}", () => encoded).replaceAll("{line}", () => String(line));
}
