// Loaded before the page is painted, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem("codesearch.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // The browser blocks storage: the system's theme stays.
}
