/** Turn an ArrayBuffer into a base64 string. */
function arrayBufferToBase64(buffer) {
  let binary = '';
  for (const byte of new Uint8Array(buffer)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Turn a base64 string into an ArrayBuffer. */
function base64ToArrayBuffer(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;
}

function rgbToHex(r, g, b) {
  return '#' + [r, g, b].map((value) => value.toString(16).padStart(2, '0')).join('');
}

function hexToRgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function camelize(str) {
  return str.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}

function hyphenate(str) {
  return str.replace(/\B([A-Z])/g, '-$1').toLowerCase();
}

function formToObject(form) {
  return Object.fromEntries(new FormData(form).entries());
}

function objectToForm(object, form) {
  for (const [name, value] of Object.entries(object)) form.elements[name].value = value;
  return form;
}

// Seconds since midnight as hh:mm:ss.
function secondsToTime(seconds) {
  const pad = (value) => String(value).padStart(2, '0');
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(pad).join(':');
}

function timeToSeconds(time) {
  return time.split(':').reduce((total, part) => 60 * total + Number(part), 0);
}

function mapFromObject(object) {
  return new Map(Object.entries(object));
}

function objectFromMap(map) {
  return Object.fromEntries(map);
}

/**
 * @param {string} csv
 * @returns {Object[]} one object a row
 */
function parseCsv(csv) {
  const [header, ...rows] = csv.trim().split('\n').map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i]])));
}

/**
 * @param {Object[]} rows
 * @returns {string} comma separated values
 */
function formatCsv(rows) {
  const header = Object.keys(rows[0]);
  return [header, ...rows.map((row) => header.map((name) => row[name]))].map((row) => row.join(',')).join('\n');
}

function blobToDataURL(blob) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
}

function dataURLToBlob(dataURL) {
  const [head, data] = dataURL.split(',');
  return new Blob([base64ToArrayBuffer(data)], { type: head.slice(5) });
}

function deg2rad(degrees) {
  return (degrees * Math.PI) / 180;
}

function rad2deg(radians) {
  return (radians * 180) / Math.PI;
}

function ucs2decode(string) {
  const output = [];
  for (const character of string) output.push(character.codePointAt(0));
  return output;
}

function ucs2encode(codePoints) {
  return String.fromCodePoint(...codePoints);
}

function markdownToHtml(markdown) {
  return new Converter().makeHtml(markdown);
}

function htmlToMarkdown(html) {
  return new TurndownService().turndown(html);
}
