'use strict';

/**
 * Percent-encode a text for use in a URL, spaces as plus signs.
 */
function encodeUrl(text) {
  const encoded = encodeURIComponent(text)
    .replace(/[!'()*]/g, (ch) => '%' + ch.charCodeAt(0).toString(16).toUpperCase())
    .replace(/%20/g, '+');
  return encoded;
}

/**
 * Undo percent-encoding; a broken sequence is left as it is.
 */
function decodeUrl(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch (error) {
    return text;
  }
}

/** Split a query string into an object; a repeated key becomes an array. */
function parseQuery(search) {
  const params = {};
  for (const pair of search.replace(/^\?/, '').split('&').filter(Boolean)) {
    const [key, value = ''] = pair.split('=').map(decodeUrl);
    params[key] = key in params ? [].concat(params[key], value) : value;
  }
  return params;
}

/** Build a query string from an object, leaving out what is null or undefined. */
function buildQuery(params) {
  const parts = [];
  for (const [key, value] of Object.entries(params)) {
    for (const one of [].concat(value ?? [])) {
      parts.push(`${encodeUrl(key)}=${encodeUrl(one)}`);
    }
  }
  return parts.length ? '?' + parts.join('&') : '';
}

function joinPaths(...segments) {
  const cleaned = segments
    .map((segment, i) => (i === 0 ? segment.replace(/\/+$/, '') : segment.replace(/^\/+|\/+$/g, '')))
    .filter((segment, i) => i === 0 || segment);
  return cleaned.join('/');
}

/** Text to base64, safe for any Unicode character. */
function toBase64(text) {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) {
    binary += String.fromCharCode(byte);
  }
  return btoa(binary);
}

/** Base64 to text. */
function fromBase64(encoded) {
  const binary = atob(encoded);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  return new TextDecoder().decode(bytes);
}

/** Read the value of a cookie. */
function getCookie(name) {
  const prefix = `${encodeURIComponent(name)}=`;
  const found = document.cookie
    .split('; ')
    .find((cookie) => cookie.startsWith(prefix));
  return found ? decodeURIComponent(found.slice(prefix.length)) : null;
}

/** Store a cookie that lives for some days. */
function setCookie(name, value, days) {
  const expires = new Date(Date.now() + days * 864e5).toUTCString();
  const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  document.cookie = `${pair}; expires=${expires}; path=/; SameSite=Lax`;
}

module.exports = { encodeUrl, decodeUrl, parseQuery, buildQuery, joinPaths, toBase64, fromBase64, getCookie, setCookie };
