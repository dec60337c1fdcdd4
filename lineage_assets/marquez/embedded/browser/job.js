// A job: what is upstream and downstream of it, its partitions as a grid, its runs newest first.

import { addressOfNode, idOf } from "./address.js";
import * as api from "./api.js";
import { el, foldedFacets, plural, table, terms, unbroken } from "./elements.js";
import { reached } from "./graph.js";
import { markOf } from "./marks.js";
import { byPartition, causeOf, partitionText, stateOf } from "./runs.js";
import { tookText, when } from "./times.js";

const MOST_CELLS = 1000;

/** The panel of a job. */
export async function jobPanel(view, of, nodes, signal) {
  const [job, page] = await Promise.all([api.job(of, signal), api.runs(of, 0, signal)]);
  const runs = [...page.runs];
  const place = el("div", {});
  const draw = () => place.replaceChildren(...runParts(view, of, runs, page.totalCount, more));
  const more = async (event) => {
    event.target.disabled = true;
    event.target.textContent = "Reading older runs…";
    try {
      runs.push(...(await api.runs(of, runs.length, signal)).runs);
      draw();
    } catch (error) {
      if (error.name !== "AbortError") event.target.replaceWith(el("p", { class: "notice bad", role: "alert" }, error.message));
    }
  };
  draw();
  const owners = job.facets?.ownership?.owners;
  return [
    el("h2", {}, "Job ", el("span", { class: "name" }, of.name)),
    terms([["Namespace", of.namespace], ["Last run", verdict(job.latestRun)], ["About", job.description],
      ["Owner", Array.isArray(owners) ? owners.map((owner) => String(owner?.name ?? "")).join(", ") : null]]),
    around(view, of, nodes),
    place,
    foldedFacets(job.facets, "Facets of the job"),
  ];
}

export function verdict(run) {
  const state = stateOf(run);
  return el("span", { class: "verdict" }, markOf(state.mark), ` ${state.word} `, unbroken(partitionText(run)));
}

/** What a node is made from and what is made from it, all the way, as links. */
export function around(view, of, nodes) {
  const id = idOf(of);
  if (!nodes.has(id)) {
    return el("p", { class: "quiet" }, `This ${of.kind} is not among the jobs drawn, so what is round it is not shown.`);
  }
  return ["Upstream", "Downstream"].map((title) => {
    const found = [...reached(nodes, id, title === "Upstream" ? "before" : "after")].map((each) => nodes.get(each));
    const count = (kind) => plural(found.filter((node) => node.kind === kind).length, kind);
    if (found.length === 0) return el("p", { class: "quiet" }, `${title}: nothing.`);
    const links = found.map((node) => el("li", {}, `${node.kind} `,
      el("a", { href: addressOfNode(view, node), class: "name" }, node.name),
      node.job && [" ", verdict(node.job.latestRun)]));
    return el("details", { class: title.toLowerCase() },
      el("summary", {}, `${title}: ${count("job")}, ${count("dataset")}`), el("ul", {}, links));
  });
}

function runParts(view, of, runs, total, more) {
  if (runs.length === 0) return [el("p", { class: "notice" }, "No run of this job is known.")];
  const partitions = byPartition(runs);
  const chosen = view.partition;
  const shown = chosen ? partitions.get(chosen) ?? [] : runs;
  const all = chosen && el("p", {}, `Only runs for partition ${chosen}. `, el("a", { href: addressOfNode(view, of) }, "All runs"));
  const older = runs.length < total
    && el("button", { type: "button", class: "more", click: more }, `Read older runs (${runs.length} of ${total} read)`);
  return [
    partitions.size > 0 && [el("h3", {}, "Partitions, by their last attempt"), grid(view, of, partitions)],
    el("h3", {}, chosen ? `Attempts at ${chosen}` : "Runs, the last started first"), all,
    chosen && shown.length === 0
      ? el("p", { class: "notice" }, "None among the runs read so far.")
      : table("Runs", ["Partition", "State", "Attempt", "Took", "Started"], shown.flatMap((run) => rowOf(view, of, run))),
    older,
  ].flat(Infinity).filter(Boolean);
}

/** Partitions as cells, a row for what they share: a month of days, a day of hours. */
function grid(view, of, partitions) {
  const rows = new Map();
  const keys = [...partitions.keys()].slice(-MOST_CELLS);
  for (const key of keys) {
    const at = /^\d{4}-\d{2}-\d{2}T/.test(key) ? 10 : /^\d{4}-\d{2}-\d{2}$/.test(key) ? 7 : 0;
    const row = key.slice(0, at);
    rows.set(row, [...(rows.get(row) ?? []), [key, at ? key.slice(at + 1) : key]]);
  }
  return [...rows].reverse().map(([row, cells]) => el("div", { class: "cells" }, row && el("span", { class: "row" }, row),
    el("ul", { "aria-label": `Partitions ${row}` }, cells.map(([key, text]) => cell(view, of, key, text, partitions.get(key))))));
}

function cell(view, of, key, text, attempts) {
  const state = stateOf(attempts[0]);
  const said = `${key}: ${state.word}, ${plural(attempts.length, "attempt")}`;
  const address = attempts.length === 1 ? { run: attempts[0].id } : { partition: key };
  const chosen = view.partition === key;
  return el("li", {}, el("a", { class: `cell ${state.mark}`, href: addressOfNode(view, of, address), title: said,
    "aria-label": said, "aria-current": chosen ? "true" : null },
    el("span", {}, text), markOf(state.mark, 10)));
}

function rowOf(view, of, run) {
  const state = stateOf(run);
  const cause = causeOf(run).split("\n")[0].slice(0, 300);
  const href = addressOfNode(view, of, { run: run.id });
  const attempt = run.facets?.lineageAssets_attempt?.attempt;
  return [
    el("tr", { class: cause ? "with-cause" : null }, el("th", { scope: "row", class: "number" },
      el("a", { href }, partitionText(run) || `run ${run.id.slice(0, 8)}`)),
      el("td", { class: "number" }, markOf(state.mark), ` ${state.word}`),
      el("td", { class: "number" }, typeof attempt === "number" ? attempt : ""),
      el("td", { class: "number" }, tookText(run)), el("td", {}, when(run.startedAt ?? run.createdAt))),
    cause && el("tr", { class: "cause-row" }, el("td", { colspan: 5 }, el("div", { class: "cause" }, cause))),
  ].filter(Boolean);
}
