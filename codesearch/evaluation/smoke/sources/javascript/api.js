const API = '/api/v1';

/** Send a value as JSON with POST and return the parsed answer. */
export async function postJson(path, body) {
  const response = await fetch(API + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(`${response.status} ${response.statusText}`);
  }
  return response.json();
}

/** Sign a user in and keep the token for later requests. */
export async function login(email, password) {
  const { token, user } = await postJson('/session', { email, password });
  sessionStorage.setItem('token', token);
  document.dispatchEvent(new CustomEvent('signed-in', { detail: user }));
  return user;
}

/** Forget the user's token, here and on the server. */
export async function logout() {
  const token = sessionStorage.getItem('token');
  sessionStorage.removeItem('token');
  if (token) {
    await fetch(`${API}/session`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } });
  }
}

/** Read the claims of a JSON web token without checking its signature. */
export function jwtClaims(token) {
  const [, payload] = token.split('.');
  if (!payload) {
    throw new Error('not a token');
  }
  const padded = payload.replace(/-/g, '+').replace(/_/g, '/');
  return JSON.parse(atob(padded));
}

export function isExpired(token, now = Date.now()) {
  const { exp } = jwtClaims(token);
  if (exp === undefined) {
    return false;
  }
  return exp * 1000 <= now;
}

/** Load every page of a listing. */
export async function* allPages(path) {
  let next = path;
  while (next) {
    const response = await fetch(API + next);
    const { items, links } = await response.json();
    yield* items;
    next = links.next;
  }
}

export const connectSocket = (url, onMessage, attempt = 0) => {
  const socket = new WebSocket(url);
  socket.onmessage = (event) => onMessage(JSON.parse(event.data));
  socket.onopen = () => { attempt = 0; };
  socket.onclose = () => {
    const wait = Math.min(30000, 500 * 2 ** attempt);
    setTimeout(() => connectSocket(url, onMessage, attempt + 1), wait);
  };
  return socket;
};

/** Send a file with a progress callback from 0 to 1. */
export function uploadFile(file, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.onprogress = (event) => onProgress(event.loaded / event.total);
    request.onload = () => resolve(request.response);
    request.onerror = () => reject(new Error('upload failed'));
    request.open('POST', `${API}/files`);
    request.send(file);
  });
}
