// The dialogs of keys and settings, and the switch of the theme.

import { byId, el, fill, toast } from "./dom.js";
import { CUSTOM, PRESETS, chooseTemplate, problem, template } from "./editor.js";
import { forgetSearches, save } from "./storage.js";

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
    chooseTemplate(input.value);
    changed();
  };
  select.addEventListener("change", () => {
    if (select.value === CUSTOM) input.focus();
    else {
      input.value = PRESETS[select.value];
      sync();
    }
  });
  input.addEventListener("input", sync);
  sync();
}

function setUpTheme() {
  const button = byId("theme");
  const label = () => {
    fill(button, el("span", { class: "word" }, "Theme: "), THEMES[document.documentElement.dataset.theme ?? ""]);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    save("theme", next || null);
    label();
  });
  label();
}
