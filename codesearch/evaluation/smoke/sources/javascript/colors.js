// Colours and units.

/** '#ff8800' -> { r: 255, g: 136, b: 0 }; also reads the short form '#f80'. */
export function hexToRgb(hex) {
  let digits = hex.replace('#', '');
  if (digits.length === 3) {
    digits = [...digits].map((d) => d + d).join('');
  }
  const value = parseInt(digits, 16);
  return { r: value >> 16, g: (value >> 8) & 255, b: value & 255 };
}

/** Three channels from 0 to 255 as '#rrggbb'. */
export function rgbToHex(r, g, b) {
  const channels = [r, g, b].map((channel) => {
    const clamped = Math.max(0, Math.min(255, Math.round(channel)));
    return clamped.toString(16).padStart(2, '0');
  });
  return `#${channels.join('')}`;
}

/** Mix a colour with white. */
export function lighten(hex, amount) {
  const { r, g, b } = hexToRgb(hex);
  const mix = (channel) => channel + (255 - channel) * amount;
  return rgbToHex(mix(r), mix(g), mix(b));
}

/** Mix a colour with black. */
export function darken(hex, amount) {
  const { r, g, b } = hexToRgb(hex);
  const keep = 1 - amount;
  return rgbToHex(r * keep, g * keep, b * keep);
}

// WCAG relative luminance, then the ratio of the lighter to the darker
export function contrastRatio(a, b) {
  const luminance = (hex) => {
    const channels = Object.values(hexToRgb(hex)).map((c) => c / 255);
    const [r, g, bl] = channels.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

export function celsiusToFahrenheit(celsius) {
  if (!Number.isFinite(celsius)) {
    throw new TypeError('temperature must be a number');
  }
  return celsius * 1.8 + 32;
}

export function fahrenheitToCelsius(fahrenheit) {
  if (!Number.isFinite(fahrenheit)) {
    throw new TypeError('temperature must be a number');
  }
  return ((fahrenheit - 32) * 5) / 9;
}

/** Random colour that is neither too dark nor too bright. */
export function randomColor() {
  const channel = () => 64 + Math.floor(Math.random() * 128);
  const [r, g, b] = [channel(), channel(), channel()];
  return rgbToHex(r, g, b);
}

/** Turn background-color into backgroundColor. */
export function kebabToCamel(name) {
  return name
    .toLowerCase()
    .replace(/^-+/, '')
    .replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

/** Turn backgroundColor into background-color. */
export function camelToKebab(name) {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}
