// Requests to the service. A newer request cancels the older one, whose answer is never used.

const BASE = "api/v1/";

/** A failure in one line: what happened, and what to do. */
export class ApiError extends Error {
  constructor(message, cure = "") {
    super(message);
    this.cure = cure;
  }
}

/** Ask the service; raise ApiError, or what `signal` was aborted with. */
export async function ask(name, params, signal) {
  let response;
  try {
    response = await fetch(`${BASE}${name}?${params}`, { signal, headers: { accept: "application/json" } });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The service does not answer", "start it with `codesearch serve --web`, then try again");
  }
  const answer = await response.json().catch((error) => {
    if (signal?.aborted) throw error;
    return null;
  });
  if (response.ok && answer) return answer;
  const { message = `The service answered with status ${response.status}`, cure = "" } = answer?.error ?? {};
  throw new ApiError(message, cure);
}

/** Runs one request at a time, and waits before it sends one as long as a slow service needs. */
export class Latest {
  #controller = null;
  #took_ms = 0;

  /** Return the answer of `load(signal)`, or undefined if a newer request has replaced this one. */
  async run(load, { wait = false } = {}) {
    this.#controller?.abort();
    const controller = (this.#controller = new AbortController());
    try {
      if (wait) await pause(this.#wait_ms());
      if (controller.signal.aborted) return undefined;
      const started = performance.now();
      const answer = await load(controller.signal);
      if (controller.signal.aborted) return undefined;
      this.#took_ms = performance.now() - started;
      return answer;
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    }
  }

  cancel() {
    this.#controller?.abort();
  }

  // A cancelled request may still cost the service its time. If answers take long, wait until typing stops.
  #wait_ms() {
    return Math.min(Math.max(15, this.#took_ms / 2), 250);
  }
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
