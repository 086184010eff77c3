// What stays in this browser: settings and recent searches. Without storage everything still works.

const PREFIX = "codesearch.";
const RECENT = 12;

export function load(name, fallback) {
  try {
    return localStorage.getItem(PREFIX + name) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keep a text, or forget it if it is null. */
export function save(name, text) {
  try {
    if (text === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
  } catch {
    // The browser blocks storage, or it is full.
  }
}

/** Return the recent searches as query strings of this page, newest first. */
export function recentSearches() {
  try {
    const found = JSON.parse(load("recent", "[]"));
    return Array.isArray(found) ? found.filter((entry) => typeof entry === "string") : [];
  } catch {
    return [];
  }
}

export function rememberSearch(address) {
  const others = recentSearches().filter((entry) => entry !== address);
  save("recent", JSON.stringify([address, ...others].slice(0, RECENT)));
}

export const forgetSearches = () => save("recent", null);
