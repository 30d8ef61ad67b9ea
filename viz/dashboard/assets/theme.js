// Light or dark, before anything is drawn: as chosen here once, else as the system says.
"use strict";

(function () {
  let kept = null;
  try {
    kept = window.localStorage.getItem("theme");
  } catch { /* nothing can be kept here */ }
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = kept === "dark" || kept === "light" ? kept : dark;
})();
