// Elements made from values. Text is only ever added as text: what the API says is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; an attribute that is a function listens, one that is null, undefined or false is left out. */
export function el(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** Partitions as text that breaks between them, never within one. */
export function unbroken(text) {
  return text.split(/( to |, )/).map((part, at) => (at % 2 === 1 ? part : el("span", { class: "number" }, part)));
}

/** JSON that a person unfolds, one part a facet. */
export function foldedFacets(facets, title) {
  const parts = Object.entries(facets ?? {});
  if (parts.length === 0) return el("p", { class: "quiet" }, `${title}: none.`);
  const folds = parts.map(([name, facet]) =>
    el("details", { class: "facet" }, el("summary", {}, el("code", { class: "name" }, name)),
      el("pre", { tabindex: "0" }, JSON.stringify(facet, null, 2))));
  return el("section", { class: "facets" }, el("h3", {}, `${title} (${parts.length})`), folds);
}

/** A table that scrolls by itself where it is wider than the screen. */
export function table(caption, heads, rows) {
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows)));
}

/** A list of terms; those without a value are left out. */
export function terms(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", {}, known.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}
