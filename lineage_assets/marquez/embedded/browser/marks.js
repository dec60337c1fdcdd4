// A mark for each state, told apart by its form as well as by its colour.

import { svg } from "./elements.js";

const FORMS = {
  completed: "M5 1a4 4 0 1 0 .01 0z",
  failed: "M1 2.6 2.6 1 5 3.4 7.4 1 9 2.6 6.6 5 9 7.4 7.4 9 5 6.6 2.6 9 1 7.4 3.4 5z",
  aborted: "M1 1h8v8h-8zM3 4.2v1.6h4v-1.6z",
  running: "M2 1 9 5 2 9z",
  none: "M5 1.5a3.5 3.5 0 1 0 .01 0zM5 3a2 2 0 1 1 -.01 0z",
};

/** The mark as a part of a drawing, its upper left corner at x and y. */
export function drawnMark(mark, x, y, size = 10) {
  return svg("path", { class: `mark ${mark}`, d: FORMS[mark], "fill-rule": "evenodd",
    transform: `translate(${x} ${y}) scale(${size / 10})` });
}

/** The mark in a line of text; the word beside it is what is read aloud. */
export function markOf(mark, size = 12) {
  return svg("svg", { class: "marked", viewBox: "0 0 10 10", width: size, height: size, "aria-hidden": "true" },
    drawnMark(mark, 0, 0));
}
