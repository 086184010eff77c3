// Requests to the service. A newer request cancels the older one, whose answer is never used.

import { load } from "./settings.js";

const BASE = "api/v1/";
const NO_TOKEN = 401;

/** A failure in one line: what happened, and what to do. */
export class ApiError extends Error {
  constructor(message, { cure = "", needs_token = false } = {}) {
    super(message);
    this.cure = cure;
    this.needs_token = needs_token;
  }
}

/** Ask the service; raise ApiError, or what `signal` was aborted with. */
export async function ask(name, params, signal) {
  let response;
  try {
    response = await fetch(`${BASE}${name}?${params}`, { signal, headers: headers() });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The service does not answer", { cure: "start it with `codesearch serve --web`, then try again" });
  }
  const answer = await response.json().catch((error) => {
    if (signal?.aborted) throw error;
    return null;
  });
  if (response.ok && answer) return answer;
  const { message = `The service answered with status ${response.status}`, cure = "" } = answer?.error ?? {};
  throw new ApiError(message, { cure, needs_token: response.status === NO_TOKEN });
}

function headers() {
  const token = load("token", "");
  return { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) };
}

const PATIENCE_MS = 250;

/**
 * Runs one request at a time, and only the newest. A request that waits is replaced by a newer one. A request that is
 * sent is cancelled only when it takes long: the service may finish cancelled work, so they would pile up.
 */
export class Latest {
  #newest = 0;
  #sent = null;

  /** Return the answer of `load(signal)`, or undefined if a newer request has replaced this one. */
  async run(load) {
    const number = ++this.#newest;
    const isNewest = () => number === this.#newest;
    if (this.#sent) await this.#end(this.#sent);
    if (!isNewest()) return undefined;
    const controller = new AbortController();
    const answer = load(controller.signal);
    const sent = (this.#sent = { controller, settled: answer.catch(() => null) });
    try {
      const found = await answer;
      return isNewest() ? found : undefined;
    } catch (error) {
      if (isNewest()) throw error;
      return undefined;
    } finally {
      if (this.#sent === sent) this.#sent = null;
    }
  }

  /** Forget the newest request. */
  cancel() {
    this.#newest += 1;
    this.#sent?.controller.abort();
  }

  async #end({ controller, settled }) {
    await Promise.race([settled, pause(PATIENCE_MS)]);
    controller.abort();
  }
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
