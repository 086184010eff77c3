// The page: its state is the address, and every change of the address shows what it names.

import { ApiError, Latest, ask } from "./api.js";
import { announce, byId, el, fill, prose, toast } from "./dom.js";
import { growFile, growHit, isFileShown, lineOf, partParams, selectLines, showFile } from "./file.js";
import { setUpFilters, showCounts, syncFilters } from "./filters.js";
import { showAnswer, summary } from "./hits.js";
import { showHome } from "./home.js";
import { askForToken, editorLink, isDialogOpen, openDialog, rememberSearch, setUpDialogs } from "./settings.js";
import { EMPTY, address, format, listParams, parse } from "./state.js";

const HITS = 20;
const MOST_HITS = 100;
const KEPT_ANSWERS = 20;
const TYPING_MS = 200;

const latest = new Latest();
const answers = new Map();
let state = parse(location.href);
let status = { roots: [], groups: {}, version: "" };
let shown = { key: "", scroll: 0 };
let unwritten = 0;
let more = { of: "", limit: HITS };

// Where we are

/** Go to a state: a new entry of the history, or with `replace` in place of the current one. */
function go(next, { replace = false } = {}) {
  writeTyped();
  state = next;
  writeAddress({ replace, typing: false });
  return show();
}

/**
 * Follow what is typed. The first key makes a new entry of the history, which is replaced until it is committed.
 * That waits until typing pauses, because browsers limit how often the address may change.
 */
function follow(change) {
  state = { ...state, ...change, view: "", at: null };
  clearTimeout(unwritten);
  unwritten = setTimeout(writeTyped, TYPING_MS);
  if (!history.state?.typing) writeTyped();
  return show();
}

function writeTyped() {
  if (!unwritten) return;
  clearTimeout(unwritten);
  unwritten = 0;
  const start = !history.state && !new URLSearchParams(location.search).has("q");
  writeAddress({ replace: history.state?.typing ?? start, typing: true });
}

function writeAddress({ replace, typing }) {
  const depth = history.state?.depth ?? 0;
  const entry = { depth: replace ? depth : depth + 1, typing };
  history[replace ? "replaceState" : "pushState"](entry, "", address(state));
}

/** Keep the current search in the history of the browser and in the recent searches. */
function commit() {
  writeTyped();
  if (history.state?.typing) history.replaceState({ ...history.state, typing: false }, "");
  if (state.q.trim()) rememberSearch(format({ ...state, view: "", at: null }));
}

function back() {
  writeTyped();
  if (history.state?.depth > 0) history.back();
  else go({ ...state, view: "", at: null }, { replace: true });
}

// What is shown

function show({ from_history = false } = {}) {
  const current = state;
  syncControls();
  if (current.view === "file") return orFail(openFile(current));
  if (current.view === "similar" || current.q.trim()) return orFail(showList(current, { from_history }));
  return start();
}

function start() {
  latest.cancel();
  fail(null);
  showHome(status, state);
  showCounts(null);
  reveal("home");
}

async function showList(current, { from_history }) {
  const [name, params] = listParams(current);
  const list = `${name}?${params}`;
  if (more.of !== list) more = { of: list, limit: HITS };
  const { limit } = more;
  params.set("limit", limit);
  const key = `${name}?${params}`;
  const kept = from_history && answers.get(key);
  if (kept || key === shown.key) latest.cancel();
  const stays = key === shown.key && !byId("list").hidden;
  if (key !== shown.key) {
    const answer = kept || await latest.run((signal) => ask(name, params, signal));
    if (!answer) return;
    keep(key, answer);
    shown = { key, scroll: limit > HITS ? scrollY : 0 };
    showAnswer(answer, current, { more: hasMore(answer, limit) });
    showCounts(answer.hits);
    announce(summary(answer));
  }
  fail(null);
  title(current);
  reveal("list");
  if (!stays) scrollTo(0, shown.scroll);
  if (from_history) currentHit()?.querySelector(".name").focus({ preventScroll: true });
}

const hasMore = (answer, limit) => answer.hits.length === limit && limit < MOST_HITS;

async function openFile(current) {
  const stays = isFileShown(current) && !byId("file").hidden;
  if (!stays) {  // Also if it was shown before, because it may have changed.
    const found = await latest.run((signal) => ask("file", partParams(current), signal));
    if (!found) return;
    if (!found.lines.length) return go({ ...current, at: { ...current.at, line: 0, last: 0 } }, { replace: true });
    const several = status.roots.length > 1 || status.roots.every(({ root }) => root !== found.root);  // Or a revision.
    showFile(found, current, { several, hits: hitsIn(current.at) });
  }
  fail(null);
  reveal("file");
  selectLines(current);
  const line = lineOf(current.at.line);
  if (line) line.scrollIntoView();
  else scrollTo(0, 0);
  if (!stays) byId("file").querySelector("h1").focus({ preventScroll: true });
}

/** Return the definitions of a file that the shown answer has. */
function hitsIn({ root, path }) {
  const all = answers.get(shown.key)?.hits.flatMap((hit) => [hit, ...(hit.others ?? [])]) ?? [];
  return all.filter((hit) => hit.root === root && hit.path === path);
}

function title(current) {
  const similar = current.view === "similar";
  const heading = byId("list-title");
  heading.classList.toggle("hidden-text", !similar);
  if (similar) fill(heading, "Similar to ", el("code", {}, `${current.at.path}:${current.at.line}`));
  else fill(heading, "Results");
  byId("list").querySelector(".back").hidden = !similar;
}

/** Show one part of the page. */
function reveal(id) {
  if (!byId("list").hidden) shown.scroll = id === "list" ? shown.scroll : scrollY;
  for (const part of ["list", "file", "home"]) byId(part).hidden = part !== id;
  document.body.classList.toggle("in-file", id === "file");
}

function fail(error) {
  const line = byId("error");
  line.hidden = !error;
  if (!error) return fill(line);
  if (error.needs_token) askForToken(load);
  const cure = error.cure ? [": ", ...prose(error.cure)] : [];
  return fill(line, ...prose(error.message), ...cure, " ", el("button", { type: "button" }, "Try again"));
}

const orFail = (done) => done.catch((error) => {
  if (!(error instanceof ApiError)) throw error;
  fail(error);
});

function keep(key, answer) {
  answers.delete(key);
  answers.set(key, answer);
  if (answers.size > KEPT_ANSWERS) answers.delete(answers.keys().next().value);
}

function syncControls() {
  const query = byId("query");
  if (query.value !== state.q) query.value = state.q;
  syncFilters(state);
  const about = state.view ? `${state.at.path}${state.at.line ? `:${state.at.line}` : ""}` : state.q.trim();
  document.title = about ? `${about} – codesearch` : "codesearch";
}

// What the user does

const hits = () => [...document.querySelectorAll(".hit")];
const currentHit = () => document.querySelector(".hit.current");

/** Return the part of the page that the keys for one definition are about. */
const target = () => (byId("file").hidden ? currentHit() : byId("file"));

/** Move by some hits; from the first hit up to the search. */
function move(by) {
  const all = hits();
  if (state.view === "file") return neighbour(all, by);
  if (byId("list").hidden) return undefined;
  const next = all.indexOf(currentHit()) + by;
  return next < 0 ? toSearch() : focusHit(all[Math.min(next, all.length - 1)]);
}

async function toFirst() {
  commit();
  await (state.view ? go({ ...state, view: "", at: null }) : show());
  focusHit(hits()[0]);
}

function toSearch() {
  byId("query").focus();
  byId("query").select();
  scrollTo(0, 0);
}

/** Follow a link or press a button of the current definition. */
const press = (selector) => target()?.querySelector(selector)?.click();

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isDialogOpen()) return;
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
  const anywhere = { "/": toSearch, "?": () => openDialog("help") }[key];
  if (anywhere) return anywhere;
  return byId("filters").contains(control) ? leave : ofHits(key);
}

function ofHits(key) {
  const arrows = state.view !== "file" && { ArrowDown: () => move(1), ArrowUp: () => move(-1) };
  return {
    ...arrows,
    j: () => move(1),
    k: () => move(-1),
    s: () => press('[data-open="similar"]'),
    o: () => press('[data-open="editor"]'),
    y: () => press("[data-copy]"),
    Escape: state.view ? back : toSearch,
  }[key];
}

function neighbour(all, by) {
  const next = all[all.indexOf(currentHit()) + by];
  if (!next) return;
  markCurrent(next);
  go(withFilters(parse(next.querySelector(".name").href)), { replace: true });
}

/** Return a state of a file with the filters of now, which its address does not have. */
const withFilters = (next) => ({ ...state, q: next.q, view: next.view, at: next.at });

/** Mark the line of a number, or with `extend` all lines from the first marked one. */
function selectLine(number, extend) {
  const line = Number(number.dataset.line);
  const from = (extend && state.at.line) || line;
  state = { ...state, at: { ...state.at, line: Math.min(from, line), last: Math.max(from, line) } };
  writeAddress({ replace: true, typing: false });
  syncControls();
  selectLines(state);
}

function focusHit(hit) {
  hit?.closest("details")?.setAttribute("open", "");
  hit?.querySelector(".name").focus();
}

function markCurrent(hit) {
  const before = currentHit();
  before?.classList.remove("current");
  before?.querySelector(".name").removeAttribute("aria-current");
  hit.classList.add("current");
  hit.querySelector(".name").setAttribute("aria-current", "true");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied ${text}`);
  } catch {
    toast(`The browser does not allow copying: ${text}`);
  }
}

async function showMore(button) {
  const before = hits().length;
  more.limit += HITS;
  button.disabled = true;
  await show();
  focusHit(hits()[before]);
}

function clicked(event) {
  const button = event.target.closest("button");
  if (button?.matches(".back")) back();
  else if (button?.id === "more") showMore(button);
  else if (button?.matches(".grow")) orFail(growFile(button, state));
  else if (button?.matches(".more-lines")) orFail(growHit(button.closest(".hit"), state.view ? "" : state.q));
  else if (button?.dataset.copy) copy(button.dataset.copy);
  else if (button?.parentElement.id === "error") load();
  const number = event.target.closest(".number");
  const link = event.target.closest("a[data-open], #start");
  if (number && !event.ctrlKey && !event.metaKey && !event.button) {
    event.preventDefault();
    selectLine(number, event.shiftKey);
  }
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.closest(".hit")) markCurrent(link.closest(".hit"));
  if (link.id !== "start") commit();
  if (link.dataset.open === "editor") return;
  event.preventDefault();
  const next = link.id === "start" ? EMPTY : parse(link.href);
  if (next.view === "file") go(withFilters(next), { replace: state.view === "file" });
  else go(next);
  if (link.id === "start" || link.dataset.open === "search") byId("query").focus();
}

function refreshEditorLinks() {
  for (const link of document.querySelectorAll('[data-open="editor"]')) {
    link.href = editorLink(link.dataset.root, link.dataset.path, link.dataset.line);
  }
  if (!byId("home").hidden) showHome(status, state);
}

function setUp() {
  history.scrollRestoration = "manual";
  byId("query").addEventListener("input", (event) => follow({ q: event.target.value }));
  byId("show-filters").addEventListener("click", (event) => {
    const open = byId("filters").classList.toggle("open");
    event.currentTarget.setAttribute("aria-expanded", String(open));
  });
  document.addEventListener("click", clicked);
  document.addEventListener("focusin", (event) => {
    const hit = event.target.closest(".hit");
    if (hit) markCurrent(hit);
  });
  addEventListener("pagehide", writeTyped);
  addEventListener("popstate", () => {
    clearTimeout(unwritten);
    unwritten = 0;
    state = parse(location.href);
    show({ from_history: true });
  });
  setUpDialogs(refreshEditorLinks);
  document.addEventListener("keydown", pressed);
}

/** Read what is indexed, then show what the address names. */
async function load() {
  syncControls();
  if (!state.view && !state.q) byId("query").focus();  // Else keys such as j go through the hits.
  const answer = await orFail(ask("status", new URLSearchParams()));
  if (!answer) return undefined;
  status = answer;
  setUpFilters(status, state, (change, { typing }) => {
    if (typing) follow(change);
    else go({ ...state, ...change, view: state.view === "file" ? "" : state.view });
  });
  return show();
}

setUp();
load();
