/** Show an element that was hidden. */
export function show(element) {
  element.hidden = false;
  element.style.display = element.dataset.display || '';
  element.setAttribute('aria-hidden', 'false');
}

/** Hide an element, remembering how it was displayed. */
export function hide(element) {
  element.dataset.display = getComputedStyle(element).display;
  element.style.display = 'none';
  element.setAttribute('aria-hidden', 'true');
}

/** Replace the characters that mean something in HTML by entities. */
export function escapeHtml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return String(text).replace(/[&<>"']/g, (ch) => entities[ch]);
}

/** Turn HTML entities back into characters. */
export function unescapeHtml(html) {
  const field = document.createElement('textarea');
  field.innerHTML = html;
  const text = field.value;
  field.remove();
  return text;
}

/** Run a handler once clicks happen inside elements that match a selector, now or later. */
export function delegate(root, selector, handler) {
  root.addEventListener('click', (event) => {
    const target = event.target.closest(selector);
    if (target && root.contains(target)) {
      handler.call(target, event);
    }
  });
}

export const copyToClipboard = async (text) => {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text);
  }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
};

/** Is any part of the element inside the visible window? */
export function isInViewport(element) {
  const box = element.getBoundingClientRect();
  const tall = window.innerHeight || document.documentElement.clientHeight;
  const wide = window.innerWidth || document.documentElement.clientWidth;
  return box.bottom > 0 && box.right > 0 && box.top < tall && box.left < wide;
}

/** Collect the fields of a form as an object. */
export function formToObject(form) {
  const values = {};
  for (const [name, value] of new FormData(form)) {
    values[name] = name in values ? [].concat(values[name], value) : value;
  }
  return values;
}

/** Fill the fields of a form from an object. */
export function objectToForm(values, form) {
  for (const [name, value] of Object.entries(values)) {
    const field = form.elements.namedItem(name);
    if (!field) continue;
    if (field.type === 'checkbox') {
      field.checked = Boolean(value);
    } else {
      field.value = value;
    }
  }
}

export function loadScript(src) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.async = true;
    script.onload = () => resolve(script);
    script.onerror = () => reject(new Error(`cannot load ${src}`));
    document.head.append(script);
  });
}

/** Trigger a download of text as a file in the browser. */
export function saveAs(filename, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
