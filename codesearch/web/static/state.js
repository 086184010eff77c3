// What the page shows: as an object, as the query string of its address, and as requests to the API.

const LISTS = ["lang", "kind", "path", "root"];
const WORDS = { content: ["code", "docs", "config"], mode: ["lexical", "semantic"], flat: ["yes"], view: ["similar", "document"] };

/**
 * `q`: the query. `lang`, `kind`, `path`, `root`: lists of filters. `content`, `mode`: "" for everything, both.
 * `flat`: "yes" for a list of definitions, "" for files with their best definitions.
 * `view`: "" for hits of the query, "similar" or "document" for those of `at`, a {root, path, line}.
 */
export const EMPTY = Object.freeze({
  q: "", lang: [], kind: [], path: [], root: [], content: "", mode: "", flat: "", view: "", at: null,
});

export function parse(address) {
  const params = new URLSearchParams(address);
  const state = { ...EMPTY, q: params.get("q") ?? "" };
  for (const name of LISTS) state[name] = params.getAll(name).filter(Boolean);
  for (const [name, known] of Object.entries(WORDS)) {
    state[name] = known.includes(params.get(name)) ? params.get(name) : "";
  }
  const line = Number(params.get("line"));
  const at = { root: params.get("in") ?? "", path: params.get("file") ?? "", line };
  if (state.view && at.root && at.path && Number.isInteger(line) && line > 0) state.at = at;
  else state.view = "";
  return state;
}

/** Return the query string of a state; "" for the start page. */
export function format(state) {
  const params = searchParams(state);
  if (state.view) {
    params.set("view", state.view);
    params.set("in", state.at.root);
    params.set("file", state.at.path);
    params.set("line", state.at.line);
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

/** Return query and filters as parameters, the same for the address and for the API. */
function searchParams(state) {
  const params = new URLSearchParams();
  if (state.q) params.set("q", state.q);
  filterParams(state).forEach((value, name) => params.append(name, value));
  for (const name of ["mode", "flat"]) if (state[name]) params.set(name, state[name]);
  return params;
}

function filterParams(state) {
  const params = new URLSearchParams();
  for (const name of LISTS) for (const value of state[name]) params.append(name, value);
  if (state.content) params.set("content", state.content);
  return params;
}

export const hasFilters = (state) => LISTS.some((name) => state[name].length) || Boolean(state.content || state.mode || state.flat);

export const withoutFilters = (state) => ({
  ...state, lang: [], kind: [], path: [], root: [], content: "", mode: "", flat: "",
});

/** Return name and parameters of the request for the hits of a state. */
export function listParams(state) {
  const similar = state.view === "similar";
  const params = similar ? similarParams(state) : searchParams(state);
  return [similar ? "similar" : "search", params];
}

export const definitionParams = ({ at }) => withPlace(new URLSearchParams(), at);

function similarParams(state) {
  const params = filterParams(state);
  for (const name of ["root", "path"]) {  // These two name the place.
    for (const value of params.getAll(name)) params.append(`filter_${name}`, value);
    params.delete(name);
  }
  return withPlace(params, state.at);
}

function withPlace(params, { root, path, line }) {
  params.set("root", root);
  params.set("path", path);
  params.set("line", line);
  return params;
}
