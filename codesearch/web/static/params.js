// What the page asks the API for.

import { filterParams, searchParams } from "./state.js";

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
