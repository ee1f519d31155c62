/**
 * Applies the theme that the user chose before, before the first paint. A classic script in the head.
 *
 * @module
 */
try {
  const theme = localStorage.getItem("sparkmem.theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  }
} catch {
  // Storage may be forbidden; the system's theme holds then.
}
