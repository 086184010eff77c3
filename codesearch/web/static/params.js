// What the page asks the API for.

import { filterParams, searchParams } from "./state.js";

/** Return name and parameters of the request for the hits of a state. */
export function listParams(state) {
  const similar = state.view === "similar";
  const params = similar ? withPlace(filterParams(state), state.at) : searchParams(state);
  return [similar ? "similar" : "search", params];
}

export const definitionParams = ({ at }) => withPlace(new URLSearchParams(), at);

function withPlace(params, { root, path, line }) {
  // The place has names of its own: `root` and `path` are filters too.
  params.set("root", root);
  params.set("path", path);
  params.set("line", line);
  return params;
}
