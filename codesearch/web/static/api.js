// Requests to the service. A newer request replaces the older one, whose answer is never used.

import { load, save } from "./settings.js";

const PATIENCE_MS = 250;
const NO_TOKEN = 401;

/** A failure in one line: what happened, and what to do; `choices` are links that do it. */
export class ApiError extends Error {
  constructor(message, cure = "", choices = []) {
    super(message);
    Object.assign(this, { cure, choices });
  }
}

/** Ask the service; raise ApiError, or what `signal` was aborted with. */
export async function ask(name, params = "", signal = null) {
  const token = load("token", "");
  let response;
  try {
    response = await fetch(`api/v1/${name}?${params}`, { signal, headers: token ? { authorization: `Bearer ${token}` } : {} });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The service does not answer", "start it with `codesearch serve --web`, then try again");
  }
  const answer = await response.json().catch((error) => {
    if (signal?.aborted) throw error;
    return null;
  });
  if (response.ok && answer) return answer;
  if (response.status === NO_TOKEN) {
    const given = prompt("This service asks for its token, which is in the file of --token-file.");
    if (given?.trim()) {
      save("token", given.trim());
      return ask(name, params, signal);
    }
  }
  const { message = `The service answered with status ${response.status}`, cure } = answer?.error ?? {};
  throw new ApiError(message, cure);
}

let newest = 0;
let controller = new AbortController();
let sent = Promise.resolve();

/**
 * Return the answer, or undefined if a newer request has replaced this one. Only one runs at a time. It is cancelled
 * only when it takes long: the service may finish cancelled work, so they would pile up.
 */
export async function askLatest(name, params) {
  const number = ++newest;
  document.body.classList.add("waiting");
  const patience = new Promise((done) => { setTimeout(done, PATIENCE_MS); });
  await (name === "lines" ? sent : Promise.race([sent, patience]));  // A search for lines may read all files.
  if (number !== newest) return undefined;
  controller.abort();
  controller = new AbortController();
  const answer = ask(name, params, controller.signal);
  sent = answer.catch(() => {});
  await sent;
  if (number !== newest) return undefined;
  document.body.classList.remove("waiting");
  return answer;
}

export function cancelLatest() {
  newest += 1;
  document.body.classList.remove("waiting");
  controller.abort();
}
