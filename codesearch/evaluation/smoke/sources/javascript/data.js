const crypto = require('crypto');
const fs = require('fs/promises');

/** Copy a value with everything inside it, cycles included. */
function deepClone(value, seen = new Map()) {
  if (value === null || typeof value !== 'object') return value;
  if (seen.has(value)) return seen.get(value);
  if (value instanceof Date) return new Date(value);
  const copy = Array.isArray(value) ? [] : {};
  seen.set(value, copy);
  for (const key of Object.keys(value)) {
    copy[key] = deepClone(value[key], seen);
  }
  return copy;
}

/** Compare two values by content. */
function deepEqual(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && deepEqual(a[key], b[key]));
}

function uniqBy(list, iteratee) {
  const seen = new Set();
  return list.filter((element) => {
    const key = iteratee(element);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Cut an array into pieces of the same length; the last one may be shorter. */
function chunk(list, size) {
  const pieces = [];
  for (let start = 0; start < list.length; start += size) {
    pieces.push(list.slice(start, start + size));
  }
  return pieces;
}

/** { a: { b: 1 } } -> { 'a.b': 1 } */
function flattenKeys(object, prefix = '') {
  return Object.entries(object).reduce((flat, [key, value]) => {
    const path = prefix ? `${prefix}.${key}` : key;
    const nested = value && typeof value === 'object' && !Array.isArray(value);
    return { ...flat, ...(nested ? flattenKeys(value, path) : { [path]: value }) };
  }, {});
}

/** { 'a.b': 1 } -> { a: { b: 1 } } */
function expandKeys(flat) {
  const root = {};
  for (const [path, value] of Object.entries(flat)) {
    const keys = path.split('.');
    const last = keys.pop();
    const parent = keys.reduce((node, key) => (node[key] ??= {}), root);
    parent[last] = value;
  }
  return root;
}

/** Encrypt a text with AES-256-GCM; the result holds iv, tag and data. */
function encrypt(text, key) {
  const iv = crypto.randomBytes(12);
  const cipher = crypto.createCipheriv('aes-256-gcm', key, iv);
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64');
}

/** Read a text that was encrypted with AES-256-GCM. */
function decrypt(sealed, key) {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
}

/** A first in, first out queue whose operations take constant time. */
class Queue {
  enqueue(value) {
    const node = { value, next: null };
    if (this.last) {
      this.last.next = node;
    } else {
      this.first = node;
    }
    this.last = node;
  }

  dequeue() {
    if (!this.first) return undefined;
    const { value, next } = this.first;
    this.first = next;
    if (!next) this.last = null;
    return value;
  }
}

/** Read JSON from disk, with a clear message when it is malformed. */
async function readJson(path) {
  const text = await fs.readFile(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is no JSON: ${error.message}`);
  }
}

async function writeJson(path, value) {
  const temporary = `${path}.${process.pid}.tmp`;
  await fs.writeFile(temporary, JSON.stringify(value, null, 2) + '\n');
  await fs.rename(temporary, path);
}

/** Random version 4 UUID. */
function uuid() {
  const bytes = crypto.randomBytes(16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

module.exports = { deepClone, deepEqual, uniqBy, chunk, flattenKeys, expandKeys, encrypt, decrypt, Queue, readJson, writeJson, uuid };
