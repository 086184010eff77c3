// What the page shows: as an object, as the query string of its address, and as requests to the API.

const LISTS = ["lang", "kind", "path", "root"];
const WORDS = { content: ["code", "docs", "config"], mode: ["lexical", "semantic"], flat: ["yes"], view: ["similar"] };

/**
 * `q`: the query. `lang`, `kind`, `path`, `root`: lists of filters. `content`, `mode`: "" for everything, both.
 * `flat`: "yes" for a list of definitions, "" for files with their best definitions. `group`: a group of folders.
 * `revision`: a git revision, the parameter `at`.
 * `view`: "" for hits of the query, "similar" for those of `at`, a {root, path, line}, or "file" for the file of `at`,
 * whose lines from `line` to `last` are marked; 0 for none.
 */
export const EMPTY = Object.freeze({
  q: "", lang: [], kind: [], path: [], root: [], content: "", mode: "", flat: "", group: "", revision: "", view: "", at: null,
});

export function parse(text) {
  const { pathname, searchParams: params, hash } = new URL(text, new URL("./", document.baseURI));
  if (pathname.endsWith("/file")) return parseFile(params, hash);
  const state = { ...EMPTY, q: params.get("q") ?? "", group: params.get("group") ?? "", revision: params.get("at") ?? "" };
  for (const name of LISTS) state[name] = params.getAll(name).filter(Boolean);
  for (const [name, known] of Object.entries(WORDS)) {
    state[name] = known.includes(params.get(name)) ? params.get(name) : "";
  }
  const line = Number(params.get("line"));
  const at = { root: params.get("in") ?? "", path: params.get("file") ?? "", line, last: line };
  if (params.get("view") === "document") state.view = "file";  // An address of version 0.2.0.
  if (state.view && at.root && at.path && Number.isInteger(line) && line > 0) state.at = at;
  else state.view = "";
  return state;
}

function parseFile(params, hash) {
  const state = { ...EMPTY, q: params.get("q") ?? "" };
  const lines = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash)?.slice(1).filter(Boolean).map(Number) ?? [0];
  const at = { root: params.get("root"), path: params.get("path"), line: Math.min(...lines), last: Math.max(...lines) };
  return at.root && at.path ? { ...state, view: "file", at } : state;
}

/** Return the place of a definition of an answer. */
export const placeAt = ({ root, path, start_line, end_line }) => ({ root, path, line: start_line, last: end_line });

/** Return the address of a state. */
export function address(state) {
  if (state.view !== "file") return format(state) || "./";
  const { line, last } = state.at;
  const lines = line ? `#L${line}${last > line ? `-L${last}` : ""}` : "";
  return `file?${fileParams(state)}${lines}`;
}

/** Return the address of a list; "" for the start page. */
export function format(state) {
  const params = searchParams(state);
  if (state.view) {
    params.set("view", state.view);
    params.set("in", state.at.root);
    params.set("file", state.at.path);
    params.set("line", state.at.line);
  }
  const text = params.toString();
  return text ? `./?${text}` : "";
}

/** Return query and filters as parameters, the same for the address and for the API. */
function searchParams(state) {
  const params = new URLSearchParams();
  if (state.q) params.set("q", state.q);
  filterParams(state).forEach((value, name) => params.append(name, value));
  for (const name of ["mode", "flat"]) if (state[name]) params.set(name, state[name]);
  if (state.revision) params.set("at", state.revision);
  return params;
}

function filterParams(state) {
  const params = new URLSearchParams();
  for (const name of LISTS) for (const value of state[name]) params.append(name, value);
  for (const name of ["content", "group"]) if (state[name]) params.set(name, state[name]);
  return params;
}

const FILTERS = [...LISTS, "content", "mode", "flat", "group", "revision"];

export const hasFilters = (state) => FILTERS.some((name) => state[name].length);

export const withoutFilters = (state) => ({ ...state, ...Object.fromEntries(FILTERS.map((name) => [name, EMPTY[name]])) });

/** Return name and parameters of the request for the hits of a state. */
export function listParams(state) {
  return state.view === "similar" ? ["similar", similarParams(state)] : ["search", searchParams(state)];
}

/** Return the parameters of the file of a state, the same for the address and for the API. */
export const fileParams = ({ q, at: { root, path } }, range = {}) => new URLSearchParams({ root, path, ...(q && { q }), ...range });

function similarParams(state) {
  const params = filterParams(state);
  for (const name of ["root", "path"]) {  // These two name the place.
    for (const value of params.getAll(name)) params.append(`filter_${name}`, value);
    params.delete(name);
  }
  for (const name of ["root", "path", "line"]) params.set(name, state.at[name]);
  return params;
}
