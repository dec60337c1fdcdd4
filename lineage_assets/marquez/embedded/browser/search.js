// The box in which a name is looked for: asks the API while one types, the last question wins.

import { addressOfNode } from "./address.js";
import * as api from "./api.js";
import { el } from "./elements.js";

const PAUSE_MS = 150;

/** Makes the box answer into `list`; `viewNow` gives what is shown. */
export function searchable(box, list, viewNow) {
  let asking = new AbortController();
  let timer = 0;
  const clear = () => {
    clearTimeout(timer);
    asking.abort();
    list.hidden = true;
    list.replaceChildren();
  };
  const look = async () => {
    const text = box.value.trim();
    asking = new AbortController();
    try {
      show(list, viewNow(), text, await api.search(text, viewNow().in, asking.signal));
    } catch (error) {
      if (error.name !== "AbortError") list.replaceChildren(el("p", { class: "notice bad" }, error.message));
    }
    list.hidden = list.childElementCount === 0;
  };
  box.addEventListener("input", () => {
    clear();
    if (box.value.trim()) timer = setTimeout(look, PAUSE_MS);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      box.value = "";
      clear();
    } else if (event.key === "ArrowDown") list.querySelector("a")?.focus();
  });
  list.addEventListener("click", (event) => {
    if (event.target.closest("a")) {
      box.value = "";
      clear();
    }
  });
}

function show(list, view, text, results) {
  const items = results.map((found) => {
    const node = { kind: found.type === "JOB" ? "job" : "dataset", namespace: found.namespace, name: found.name };
    return el("li", {}, `${node.kind} `, el("a", { href: addressOfNode(view, node), class: "name" }, node.name),
      " ", el("small", {}, node.namespace));
  });
  list.replaceChildren(items.length > 0 ? el("ul", {}, items)
    : el("p", { class: "notice" }, `No job or dataset has “${text}” in its name${view.in ? ` in namespace ${view.in}` : ""}.`));
}
