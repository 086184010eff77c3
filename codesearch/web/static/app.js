// The page: its state is the form and the address, and every change of them shows what they name.

import { ApiError, ask, askLatest, cancelLatest } from "./api.js";
import { setUpCompletion } from "./complete.js";
import { announce, byId, el, fill, prose } from "./dom.js";
import { isFileShown, lineOf, partParams, selectLines, setUpTree, showFile, showPath } from "./file.js";
import {
  address, asked, formParams, listRequest, nameAt, NO_NUMBERS, ofList, parse, setForm, setUpFilters, showChips, showNumbers, valuesOf,
} from "./filters.js";
import { rowOf, showAnswer } from "./hits.js";
import { showHome } from "./home.js";
import { closePreview, openPreview, preview } from "./preview.js";
import { setUpEditor } from "./settings.js";

const MOST = { usages: 1000, lines: 1000, screen: 400, limit: 100 };
const [ABOVE, ROW] = [85, 21];  // Pixels above the hits, and those of a row.
const TYPING_MS = 200;
const LIST = { view: "", at: null };

let state = LIST;
let status = { roots: [], groups: {}, version: "" };
let shown = { key: "", hits: [], scroll: 0 };
let unwritten = 0;
let more = { of: "", pages: 1 };

// Where we are

/** Go to an address: a new entry of the history, or with `replace` in place of the current one. */
function go(next, { replace = false } = {}) {
  writeTyped();
  writeAddress(next, { replace });
  return arrive();
}

/** Show what the address names. A file has only a query and a mode: the form keeps the other filters of the list. */
function arrive(options) {
  const { params, ...next } = parse(location.href);
  state = next;
  setForm(new URLSearchParams([...(state.view === "file" ? ofList() : []), ...params]));
  return show(options);
}

/** Follow what is typed. The first key makes an entry of the history, which is replaced when typing pauses until it is committed. */
function follow() {
  state = LIST;
  clearTimeout(unwritten);
  unwritten = setTimeout(writeTyped, TYPING_MS);
  if (!history.state?.typing) writeTyped();
  return show();
}

function writeTyped() {
  if (!unwritten) return;
  clearTimeout(unwritten);
  unwritten = 0;
  writeAddress(address("", null), { replace: history.state?.typing, typing: true });
}

function writeAddress(text, { replace, typing = false }) {
  const depth = history.state?.depth ?? 0;
  history[replace ? "replaceState" : "pushState"]({ depth: replace ? depth : depth + 1, typing }, "", text);
}

/** Keep the current search in the history of the browser. */
function commit() {
  writeTyped();
  if (history.state?.typing) history.replaceState({ ...history.state, typing: false }, "");
}

function back() {
  writeTyped();
  if (history.state?.depth > 0) history.back();
  else go(address("", null), { replace: true });
}

// What is shown

function show({ from_history = false } = {}) {
  showChips();
  const { view, at } = state;
  const query = byId("query").value.trim();
  const about = view ? nameOf(at) : query;
  document.title = about ? `${about} – codesearch` : "codesearch";
  if (view === "file") return orFail(openFile(at));
  if (view || asked().has("q") || formParams().get("mode") === "history") return orFail(showList(from_history));
  cancelLatest();
  fail(null);
  showNumbers();
  showHome(status);
  return reveal("home");
}

/** Name what a view is about: a place, or the name whose usages it shows. */
const nameOf = (at) => at.name ?? nameAt(at);

const onScreen = () => Math.max(Math.floor(((innerHeight - ABOVE) / ROW) * 0.8), 12);

async function showList(from_history) {
  const { view, at } = state;
  const [name, params] = listRequest(state);
  const list = `${name}?${params}`;
  if (more.of !== list) more = { of: list, pages: 1 };
  const has_screen = name === "search";
  const most = MOST[name] ?? MOST.limit;
  const limit = Math.min((MOST[name] ? 200 : has_screen ? Math.ceil(onScreen() / 3) : 20) * more.pages, most);
  params.set("limit", limit);
  if (has_screen) params.set("screen", Math.min(onScreen() * more.pages, MOST.screen));
  const key = `${name}?${params}`;
  const stays = key === shown.key && !byId("list").hidden;
  if (key === shown.key) cancelLatest();
  else {
    const answer = await askLatest(name, params);
    if (!answer) return;
    const lines = answer.usages ?? (name === "lines" ? answer.lines : null);
    const hits = lines?.map((line) => ({ ...line, start_line: line.line })) ?? answer.hits.flatMap((hit) => [hit, ...(hit.others ?? [])]);
    shown = { key, hits, counts: answer.counts, scroll: more.pages > 1 ? scrollY : 0 };
    const has_more = (lines ?? answer.hits).length >= limit && limit < most;
    announce(showAnswer(name, answer, { root: params.get("root"), path: params.get("path") ?? "", more: has_more }));
    if (!currentHit()) preview(null);
  }
  byId("hits").dataset.query = view ? nameOf(at) : byId("query").value.trim();
  showNumbers(shown.counts ?? NO_NUMBERS);
  fail(null);
  const heading = byId("list-title");
  heading.parentElement.classList.toggle("hidden-text", !view);
  const about = { similar: "Similar to ", usages: "Usages of ", history: "History of " }[view];
  const every = view === "usages" && at.path && el("a", { class: "every", "data-open": "usages",
    href: address("usages", { root: at.root, name: at.name }) }, "all with this name");
  fill(heading, ...(about ? [about, el("code", {}, nameOf(at)), every] : ["Results"]));
  byId("list").querySelector(".back").hidden = !view;
  reveal("list");
  if (!stays) scrollTo(0, shown.scroll);
  if (from_history) currentHit()?.querySelector(".name").focus({ preventScroll: true });
}

async function openFile(at) {
  const stays = isFileShown(at) && !byId("file").hidden;
  if (!stays) {  // Also if it was shown before, because it may have changed.
    let found = await askLatest("file", partParams(at));
    if (found && !found.lines.length) found = await askLatest("file", partParams({ ...at, line: 0 }));
    if (!found) return;
    const folders = status.roots.map(({ root }) => root);
    setUpTree(found.root);
    const hits = shown.hits.filter(({ root, path }) => root === at.root && path === at.path);
    showFile(found, at, { folders: folders.length > 1 && folders, hits });
    orFail(showPath(found));
  }
  fail(null);
  reveal("file");
  selectLines(at);
  const line = lineOf(at.line);
  if (line) line.scrollIntoView();
  else scrollTo(0, 0);
  if (!stays) byId("file").querySelector("h1").focus({ preventScroll: true });
}

function reveal(id) {
  if (!byId("list").hidden && id !== "list") shown.scroll = scrollY;
  for (const part of ["list", "file", "home"]) byId(part).hidden = part !== id;
  document.body.classList.toggle("in-file", id === "file");
}

function fail(error) {
  byId("error-title").hidden = byId("error").hidden = !error;
  if (!error) return;
  reveal("");  // What was shown answers something else.
  showNumbers(NO_NUMBERS);
  const cure = error.cure ? [": ", ...prose(error.cure)] : [];
  const actions = error.choices.length ? error.choices : [el("button", { type: "button" }, "Try again")];
  fill(byId("error"), ...prose(error.message), ...cure, " ", ...actions);
}

const orFail = (done) => done.catch((error) => {
  if (!(error instanceof ApiError)) throw error;
  fail(error);
});

// What the user does

const hits = () => [...document.querySelectorAll(".hit")];
const currentHit = () => document.querySelector(".hit.current");

/** Move by some hits; from the first hit up to the search. */
function move(by) {
  const all = hits();
  const next = all.indexOf(currentHit()) + by;
  if (state.view === "file") {
    const link = all[next]?.querySelector("a.name");
    if (!link) return;
    markCurrent(all[next]);
    go(link.href, { replace: true });
  } else if (next < 0) toSearch();
  else if (!byId("list").hidden) focusHit(all[Math.min(next, all.length - 1)]);
}

async function toFirst() {
  commit();
  await (state.view ? go(address("", null)) : show());
  focusHit(hits()[0]);
}

function toSearch() {
  byId("query").focus();
  byId("query").select();
  scrollTo(0, 0);
}

const press = (selector) => (byId("file").hidden ? currentHit() : byId("file"))?.querySelector(selector)?.click();

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector(":popover-open")) return;
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  action();
}

function actionOf({ target: control, key }) {
  if (control.id === "query") {
    if (key === "Escape" && state.view) return back;
    return { ArrowDown: () => focusHit(currentHit() ?? hits()[0]), Enter: toFirst }[key];
  }
  const leave = { Escape: toSearch }[key];
  if (control.matches("input:not([type=checkbox]), select")) return leave;
  const anywhere = { "/": toSearch, "?": () => byId("help").showPopover() }[key];
  if (anywhere || byId("filters").contains(control)) return anywhere ?? leave;
  const is_code = control.closest(".source");
  const arrows = !is_code && state.view !== "file" && { ArrowDown: () => move(1), ArrowUp: () => move(-1) };
  return {
    ...arrows, j: () => move(1), k: () => move(-1), n: () => nextName(1), N: () => nextName(-1),
    ArrowRight: () => press('.unfold[aria-expanded="false"], .whole'),
    ArrowLeft: () => press('.unfold[aria-expanded="true"]'),
    s: () => press('[data-open="similar"]'), u: () => press('.actions [data-open="usages"]'),
    o: () => press('[data-open="editor"]'), y: () => press("[data-copy]"),
    p: () => currentHit() && openPreview(...shownBy(currentHit().querySelector(".name"))),
    Escape: is_code && state.view !== "file" ? () => focusHit(currentHit()) : state.view ? back : toSearch,
  }[key];
}

/** Focus the next or the previous name in the code of the hit or the file: at first, in the selected lines. */
function nextName(by) {
  const part = document.activeElement.closest(".source") ?? (byId("file").hidden ? currentHit() : byId("file"));
  const all = [...part?.querySelectorAll(".use") ?? []];
  const first = part?.querySelector(".selected .use") ?? all[0];
  const at = all.indexOf(document.activeElement);
  (at < 0 ? first : all[at + by])?.focus();
}

/** Mark the line of a number, or with `extend` all lines from the first marked one. */
function selectLine(line, extend) {
  const from = (extend && state.at.line) || line;
  state.at = { ...state.at, line: Math.min(from, line), last: Math.max(from, line) };
  writeAddress(address("file", state.at), { replace: true });
  selectLines(state.at);
}

function focusHit(hit) {
  hit?.querySelector(".name").focus();
}

function markCurrent(hit) {
  const before = currentHit();
  before?.classList.remove("current");
  before?.querySelector(".name").removeAttribute("aria-current");
  hit.classList.add("current");
  hit.querySelector(".name").setAttribute("aria-current", "true");
}

/** Return the link that an element of the list stands for, and the hit there. */
function shownBy(element) {
  const link = element.closest("a[data-open=file]") ?? rowOf(element)?.querySelector("a[data-open=file]");
  const at = link && parse(link.href).at;
  return [link, at && shown.hits.find((hit) => hit.root === at.root && hit.path === at.path && hit.start_line === at.line)];
}

async function copy(button) {
  const { copy: text } = button.dataset;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce(`Copied ${text}`, 0);
  } catch {
    prompt("The browser does not allow copying. Copy it here:", text);
  }
}

async function showMore(button) {
  const before = hits().length;
  more.pages += 1;
  button.disabled = true;
  await show();
  focusHit(hits()[before]);
}

function clicked(event) {
  const button = event.target.closest("button");
  if (button?.matches(".back")) back();
  else if (button?.id === "more") showMore(button);
  else if (button?.dataset.copy) copy(button);
  else if (button?.matches("#error button")) load();
  else if (button?.matches("#preview .close")) {
    closePreview();
    focusHit(currentHit());
  }
  const number = event.target.closest("#file .number");
  const link = event.target.closest("a[data-open]");
  if (!link && !button && event.target.closest(".hit") && getSelection().isCollapsed) preview(...shownBy(event.target));
  if (!(number || link) || event.ctrlKey || event.metaKey || event.button) return;
  if (number) {
    event.preventDefault();
    return selectLine(Number(number.dataset.line), event.shiftKey);
  }
  if (event.shiftKey) return;
  if (link.closest(".hit")) markCurrent(link.closest(".hit"));
  commit();
  const { open } = link.dataset;
  if (open === "editor") return;
  event.preventDefault();
  go(link.href, { replace: open === "file" && state.view === "file" });
  if (open === "search") byId("query").focus();
}

/** Make the boxes of the filters; until the service has answered, only those that are chosen. */
const fillFilters = (params) => setUpFilters(status, params, ({ typing }) => {
  if (typing) follow();
  else go(address(state.view === "file" ? "" : state.view, state.at));
});

async function load() {
  const answer = await orFail(ask("status"));
  if (!answer) return;
  status = answer;
  fillFilters(formParams());
  show();
}

history.scrollRestoration = "manual";
byId("query").addEventListener("input", follow);
byId("show-filters").addEventListener("click", (event) => {
  const open = byId("filters").classList.toggle("open");
  event.currentTarget.setAttribute("aria-expanded", String(open));
});
document.addEventListener("click", clicked);
document.addEventListener("keydown", pressed);
document.addEventListener("focusin", (event) => {
  const hit = event.target.closest(".hit");
  if (!hit) return;
  markCurrent(hit);
  if (!event.target.matches(":active")) preview(...shownBy(event.target));  // The list must not move below a click.
});
addEventListener("pagehide", writeTyped);
addEventListener("popstate", () => {
  clearTimeout(unwritten);
  unwritten = 0;
  arrive({ from_history: true });
});
setUpEditor();
setUpCompletion(valuesOf);
const { params: given, ...first } = parse(location.href);
state = first;
fillFilters(given);
showChips();
if (!state.view && !given.has("q")) byId("query").focus();  // Else keys such as j go through the hits.
load();
