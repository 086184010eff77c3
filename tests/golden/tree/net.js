/** Send an HTTP GET request and return the body. */
export async function httpGet(url) {
  const response = await fetch(url);
  return response.text();
}

/** Send a JSON body by HTTP POST. */
export async function postJson(url, value) {
  return fetch(url, { method: "POST", body: JSON.stringify(value) });
}

/** Parse the query string of a URL into an object. */
export function parseQuery(url) {
  return Object.fromEntries(new URL(url).searchParams);
}

/** Wait for some milliseconds. */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
