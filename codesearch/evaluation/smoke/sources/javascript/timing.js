/**
 * Wrap a function so that it runs only when calls have paused for a while,
 * for example while somebody types.
 */
function debounce(fn, wait = 200) {
  let timer = null;
  return function debounced(...args) {
    clearTimeout(timer);
    timer = setTimeout(() => fn.apply(this, args), wait);
  };
}

/** Wrap a function so that it runs at most once in each interval. */
function throttle(fn, interval) {
  let last = -Infinity;
  return function throttled(...args) {
    const now = Date.now();
    if (now - last >= interval) {
      last = now;
      fn.apply(this, args);
    }
  };
}

const sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** Give up on a promise that takes too long. */
function withTimeout(promise, ms) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Map over an array with an async function, a few calls at a time. */
async function mapLimit(items, limit, worker) {
  const results = new Array(items.length);
  let next = 0;
  async function run() {
    while (next < items.length) {
      const index = next++;
      results[index] = await worker(items[index], index);
    }
  }
  await Promise.all(Array.from({ length: limit }, run));
  return results;
}

/** Format a date with a pattern such as YYYY-MM-DD HH:mm. */
function formatDate(date, pattern) {
  const pad = (n) => String(n).padStart(2, '0');
  const parts = {
    YYYY: date.getFullYear(),
    MM: pad(date.getMonth() + 1),
    DD: pad(date.getDate()),
    HH: pad(date.getHours()),
    mm: pad(date.getMinutes()),
  };
  return pattern.replace(/YYYY|MM|DD|HH|mm/g, (token) => parts[token]);
}

/** Parse a date written as YYYY-MM-DD, in local time. */
function parseDate(text) {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim());
  if (!match) return null;
  const [, year, month, day] = match.map(Number);
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 ? date : null;
}

function daysBetween(a, b) {
  const midnight = (d) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  const span = midnight(b) - midnight(a);
  return Math.round(span / 86400000);
}

class Emitter {
  constructor() {
    this.handlers = new Map();
    this.on = this.subscribe;
    this.off = this.unsubscribe;
  }

  /** Call a handler whenever an event is emitted. */
  subscribe(event, handler) {
    if (!this.handlers.has(event)) {
      this.handlers.set(event, new Set());
    }
    this.handlers.get(event).add(handler);
  }

  /** Stop calling a handler. */
  unsubscribe(event, handler) {
    const known = this.handlers.get(event);
    if (known?.delete(handler) && known.size === 0) {
      this.handlers.delete(event);
    }
  }

  emit(event, ...payload) {
    const handlers = this.handlers.get(event) ?? [];
    for (const handler of [...handlers]) {
      handler(...payload);
    }
    return handlers.size > 0;
  }
}

module.exports = { debounce, throttle, sleep, withTimeout, mapLimit, formatDate, parseDate, daysBetween, Emitter };
