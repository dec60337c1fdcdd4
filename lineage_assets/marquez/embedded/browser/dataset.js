// A dataset: its columns, and its versions with the runs that made them.

import { addressOfNode } from "./address.js";
import * as api from "./api.js";
import { el, foldedFacets, plural, table, terms, unbroken } from "./elements.js";
import { around, verdict } from "./job.js";
import { rowsOf, subsetText } from "./runs.js";
import { when } from "./times.js";

const PAGE = 25;

/** The panel of a dataset, or of one version of it. */
export async function datasetPanel(view, of, nodes, signal) {
  const [dataset, page, chosen] = await Promise.all([
    api.dataset(of, signal), api.versions(of, 0, PAGE, signal),
    view.version ? api.version(of, view.version, signal) : null,
  ]);
  const found = [...page.versions];
  const place = el("div", {});
  const draw = () => place.replaceChildren(...versionParts(view, of, found, page.totalCount, more));
  const more = async (event) => {
    event.target.disabled = true;
    try {
      found.push(...(await api.versions(of, found.length, PAGE, signal)).versions);
      draw();
    } catch (error) {
      if (error.name !== "AbortError") event.target.replaceWith(el("p", { class: "notice bad", role: "alert" }, error.message));
    }
  };
  draw();
  return [
    el("h2", {}, "Dataset ", el("span", { class: "name" }, of.name)),
    terms([["Namespace", of.namespace], ["Source", dataset.sourceName], ["About", dataset.description],
      ["Last version", when(found[0]?.createdAt)], ["Deleted", dataset.deleted ? "yes" : null]]),
    chosen && versionPart(view, of, chosen),
    around(view, of, nodes),
    place,
    columns(dataset.fields ?? []),
    foldedFacets(dataset.facets, "Facets of the dataset"),
  ];
}

function versionPart(view, of, chosen) {
  return el("div", { class: "notice" }, el("h3", {}, "Version ", el("code", {}, chosen.version)),
    el("p", {}, "Kept ", when(chosen.createdAt), ". ", chosen.createdByRun ? ["Made by ", makerLink(view, chosen.createdByRun), "."]
      : "Which run made it is not said."),
    foldedFacets(chosen.facets, "Facets of this version"),
    el("p", {}, el("a", { href: addressOfNode(view, of) }, "All versions")));
}

function makerLink(view, run) {
  const job = run.jobVersion;
  const node = job ? { kind: "job", namespace: job.namespace, name: job.name } : { kind: "job", namespace: "", name: "" };
  return [el("a", { href: addressOfNode(view, node, { run: run.id }), class: "name" }, job?.name ?? `run ${run.id.slice(0, 8)}`),
    " ", verdict(run)];
}

function versionParts(view, of, found, total, more) {
  if (found.length === 0) return [el("p", { class: "notice" }, "No version of this dataset is known.")];
  const rows = found.map((each) => {
    const run = each.createdByRun;
    const facets = run?.outputDatasetVersions?.find((part) => part.datasetVersionId.version === each.version)?.facets;
    return el("tr", { "aria-current": each.version === view.version ? "true" : null },
      el("th", { scope: "row" }, el("a", { href: addressOfNode(view, of, { version: each.version }) },
        el("code", {}, each.version.slice(0, 8)))),
      el("td", {}, when(each.createdAt)), el("td", {}, run ? makerLink(view, run) : "not said"),
      el("td", {}, unbroken(subsetText(facets))), el("td", { class: "number" }, rowsOf(facets)));
  });
  return [el("h3", {}, `Versions (${total.toLocaleString("en")})`),
    table("Versions, newest first", ["Version", "Kept", "Made by", "Partitions", "Rows"], rows),
    found.length < total && el("button", { type: "button", class: "more", click: more },
      `Read older versions (${found.length} of ${total} read)`)].filter(Boolean);
}

function columns(fields) {
  if (fields.length === 0) return el("p", { class: "quiet" }, "Columns: not said.");
  const rows = fields.map((field) => el("tr", {}, el("th", { scope: "row", class: "name" }, field.name),
    el("td", {}, field.type ?? ""), el("td", {}, field.description ?? "")));
  return el("details", { class: "columns" }, el("summary", {}, plural(fields.length, "column")),
    table("Columns", ["Name", "Type", "About"], rows));
}
