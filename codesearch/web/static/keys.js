// The keyboard.

import { openDialog } from "./dialogs.js";
import { byId } from "./dom.js";

/** Give keys their meaning; `commands` does what they ask for. */
export function setUpKeys(commands) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || commands.isDialogOpen()) return;
    const action = actionOf(event, commands);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function actionOf(event, commands) {
  const { target, key } = event;
  if (target.id === "query") return inQuery(key, commands);
  const leave = { Escape: () => commands.search() }[key];
  if (target.matches("input:not([type=checkbox]), select")) return leave;
  const anywhere = { "/": () => commands.search(), "?": () => openDialog("help") }[key];
  if (anywhere) return anywhere;
  return byId("filters").contains(target) ? leave : onHits(key, commands);
}

function inQuery(key, commands) {
  if (key === "Escape" && (commands.isFile() || commands.isSimilar())) return () => commands.back();
  return { ArrowDown: () => commands.enter(), Enter: () => commands.first() }[key];
}

function onHits(key, commands) {
  const inFile = commands.isFile();
  return {
    j: () => commands.move(1),
    k: () => commands.move(-1),
    ArrowDown: inFile ? null : () => commands.move(1),
    ArrowUp: inFile ? null : () => commands.move(-1),
    s: () => commands.open("similar"),
    o: () => commands.open("editor"),
    y: () => commands.copy(),
    Escape: () => (inFile || commands.isSimilar() ? commands.back() : commands.search()),
  }[key];
}
