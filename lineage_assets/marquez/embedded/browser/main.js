// The page: reads what its address asks for, shows it, and says in words what it is waiting for and what went wrong.

import { addressOf, nodeOf, viewOf } from "./address.js";
import * as api from "./api.js";
import { datasetPanel } from "./dataset.js";
import { el } from "./elements.js";
import { graphOf } from "./graph.js";
import { jobPanel } from "./job.js";
import { showOverview } from "./overview.js";
import { runPanel } from "./run.js";
import { searchable } from "./search.js";

const MOST_JOBS = 300;
const byId = (id) => document.getElementById(id);
const said = byId("said"), details = byId("details"), main = byId("main"), chooser = byId("namespaces");

let view = viewOf(location.hash);
let read = null;
let asking = new AbortController();

/** Shows what the address asks for. The overview is read again only for another namespace, or when asked to. */
async function show({ fresh = false } = {}) {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  view = viewOf(location.hash);
  try {
    if (fresh || read?.of !== view.in) await readOverview(signal);
    chooser.value = view.in;
    await showDetails(signal);
    say("");
    said.textContent = `Read at ${new Date().toISOString().slice(11, 19)} UTC.`;
  } catch (error) {
    if (error.name === "AbortError") return;
    say("");
    if (!(error instanceof api.NoAnswer)) console.error(error);
    failed(error instanceof api.NoAnswer ? error.message : `This page could not show an answer of the server: ${error.message}`);
  }
}

function say(text) {
  said.textContent = text;
  main.setAttribute("aria-busy", String(text !== ""));
}

function failed(message) {
  const again = el("button", { type: "button", click: () => show({ fresh: read === null }) }, "Try again");
  const words = el("div", { class: "notice bad", role: "alert" }, el("p", {}, message), again);
  if (read === null) {
    byId("attention").replaceChildren(words);
    byId("graph").replaceChildren();
  } else {
    details.hidden = false;
    main.classList.add("split");
    details.replaceChildren(closer(), words);
  }
}

async function readOverview(signal) {
  say("Reading jobs and datasets…");
  read = null;
  const of = view.in;
  const [names, { found, total }] = await Promise.all([api.namespaces(signal), api.jobs(of, MOST_JOBS, signal)]);
  whoServes();
  chooser.replaceChildren(el("option", { value: "" }, "all"),
    ...names.map(({ name }) => el("option", { value: name }, name)));
  const nodes = graphOf(found);
  const sections = { attention: byId("attention"), graph: byId("graph") };
  read = { of, jobs: found, nodes, select: showOverview(sections, { jobs: found, total, nodes }, view) };
}

async function showDetails(signal) {
  const node = nodeOf(view);
  const any = node !== null || view.run !== "";
  details.hidden = !any;
  main.classList.toggle("split", any);
  document.title = [view.run && "Run", node?.name, view.in, "Lineage"].filter(Boolean).join(" · ");
  read.select(view);
  if (!any) return details.replaceChildren();
  say(`Reading ${view.run ? "the run" : `${node.kind} ${node.name}`}…`);
  details.replaceChildren(closer(), el("p", { class: "quiet" }, "Reading…"));
  const parts = view.run ? await runPanel(view, read.jobs, signal)
    : node.kind === "job" ? await jobPanel(view, node, read.nodes, signal)
      : await datasetPanel(view, node, read.nodes, signal);
  details.replaceChildren(closer(), ...parts.flat(Infinity).filter(Boolean));
  if (matchMedia("(max-width: 68rem)").matches) details.scrollIntoView();
}

function closer() {
  return el("a", { class: "close", href: addressOf({ in: view.in }), "aria-label": "Close the details" }, "Close");
}

/** Who answers: this page also works with a Marquez, and must not say that it is one, or that it is none. */
function whoServes() {
  if (byId("server").textContent.trim() === "") {
    byId("server").textContent = `The server that answers calls itself ${api.serverSays || "nothing"}.`;
  }
}

chooser.addEventListener("change", () => { location.hash = addressOf({ in: chooser.value }); });
byId("choices").addEventListener("submit", (event) => event.preventDefault());
byId("again").addEventListener("click", () => show({ fresh: true }));
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  (details.hidden ? byId("graph").querySelector("summary") : details)?.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target !== byId("search") && nodeOf(view) !== null) location.hash = addressOf({ in: view.in });
  if (event.key === "/" && !event.target.closest("input, select, textarea")) {
    event.preventDefault();
    byId("search").focus();
  }
});
searchable(byId("search"), byId("found"), () => view);
addEventListener("hashchange", () => show());
show();
