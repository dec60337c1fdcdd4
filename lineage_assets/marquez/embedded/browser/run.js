// A run: what came of it and why, what it read and wrote, and everything that was said about it.

import { addressOf, addressOfNode } from "./address.js";
import * as api from "./api.js";
import { el, foldedFacets, table, terms, unbroken } from "./elements.js";
import { verdict } from "./job.js";
import { blockersOf, causeOf, partitionText, rowsOf, stateOf, subsetText } from "./runs.js";
import { tookText, when } from "./times.js";

/** The panel of a run; `jobs` are those of the overview, by which a blocking asset is found. */
export async function runPanel(view, jobs, signal) {
  const [run, jobFacets, upstream] = await Promise.all([
    api.run(view.run, signal),
    orNull(api.jobFacetsOfRun(view.run, signal)),
    orNull(api.upstreamRuns(view.run, signal)),
  ]);
  const of = view.job ? { kind: "job", namespace: view.namespace, name: view.job }
    : run.jobVersion ? { kind: "job", namespace: run.jobVersion.namespace, name: run.jobVersion.name } : null;
  const makers = makersOf(run, upstream);
  return [
    el("h2", {}, "Run ", partitionText(run) && ["for ", el("b", {}, partitionText(run))]),
    of && el("p", {}, "of job ", el("a", { href: addressOfNode(view, of), class: "name" }, of.name)),
    trouble(view, run, jobs),
    facts(view, run),
    sides(view, run, makers),
    foldedFacets(run.facets, "Facets of the run"),
    foldedFacets(jobFacets?.facets, "Facets of the job, as this run said them"),
  ];
}

/** What helps but is not needed: an older Marquez has no such path. */
async function orNull(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof api.NoAnswer && error.status >= 400) return null;
    throw error;
  }
}

function facts(view, run) {
  const attempt = run.facets?.lineageAssets_attempt ?? {};
  const backfill = run.facets?.lineageAssets_backfill;
  const text = (value) => (["string", "number"].includes(typeof value) ? String(value) : null);
  const backfillRun = text(backfill?.run?.runId);
  const result = backfill?.result;
  return terms([
    ["State", verdict(run)],
    ["Started", when(run.startedAt)], ["Ended", when(run.endedAt)], ["Took", tookText(run)],
    ["Attempt", text(attempt.attempt)], ["Code version", text(attempt.codeVersion)],
    ["Dagster run", text(attempt.dagsterRunId)],
    ["Backfill", text(backfill?.id) && (backfillRun && backfillRun !== run.id
      ? el("a", { href: addressOf({ in: view.in, run: backfillRun }) }, text(backfill.id)) : text(backfill.id))],
    ["Asked for by", text(backfill?.requestedBy)], ["Reason", text(backfill?.reason)],
    ["Result", result && Object.entries(result).map(([name, count]) => `${name} ${text(count) ?? "?"}`).join(", ")],
    ["Run id", el("code", {}, run.id)],
  ]);
}

/** Why it failed or was blocked, or whose result stands in its place. */
function trouble(view, run, jobs) {
  const cause = causeOf(run);
  const blockers = blockersOf(run);
  const count = run.facets?.lineageAssets_block?.blockedByCount;
  const unnamed = typeof count === "number" ? count - blockers.length : 0;
  const stack = run.facets?.errorMessage?.stackTrace;
  if (!cause && blockers.length === 0) {
    return stateOf(run).word === "reused"
      && el("p", { class: "notice good" }, "Nothing was computed: inputs and code were the same, so the result before it stands.");
  }
  return el("div", { class: "notice bad" },
    el("h3", {}, blockers.length > 0 ? "Blocked" : "What went wrong"),
    el("p", { class: "message" }, cause || "It does not say why."),
    blockers.length > 0 && el("p", {}, "By: ", blockers.map((by, at) => [at > 0 && ", ", blocker(view, by, jobs)]),
      unnamed > 0 && ` and ${unnamed} more`),
    typeof stack === "string" && stack && el("details", {}, el("summary", {}, "Stack trace"), el("pre", { tabindex: "0" }, stack)));
}

/** A blocking partition, linked to the job that makes the asset where its runs name it. */
function blocker(view, { asset, partition }, jobs) {
  const makes = (job) => {
    const said = job.latestRun?.facets?.lineageAssets_attempt ?? {};
    const keys = Array.isArray(said.assetKeys) ? said.assetKeys : [said.assetKey];
    return keys.some((key) => Array.isArray(key) && key.join("/") === asset);
  };
  const job = jobs.find(makes);
  const text = `${asset} ${partition}`.trim();
  return job ? el("a", { href: addressOfNode(view, { kind: "job", ...job.id }, { partition }) }, text) : text;
}

/** Version of an input to the run that made it: id and job. */
function makersOf(run, upstream) {
  const answers = Array.isArray(upstream?.runs) ? upstream.runs : [];
  const jobs = new Map(answers.map((each) => [each.run.id, each.job]));
  const inputs = answers.find((each) => each.run.id === run.id)?.inputs ?? [];
  return new Map(inputs.filter((used) => used.producedByRunId).map((used) =>
    [used.version, { run: used.producedByRunId, job: jobs.get(used.producedByRunId) }]));
}

function sides(view, run, makers) {
  const titles = { input: "Read", output: run.state === "COMPLETED" ? "Wrote" : "Was to write" };
  return Object.entries(titles).map(([side, title]) => {
    const parts = run[`${side}DatasetVersions`] ?? [];
    if (parts.length === 0) return el("p", { class: "quiet" }, `${title}: no dataset is named.`);
    const heads = ["Dataset", "Partitions", "Rows", "Version", ...(side === "input" ? ["Made by"] : [])];
    return [el("h3", {}, title), table(title, heads, parts.map((part) => touched(view, side, part, makers))),
      el("details", { class: "facet" }, el("summary", {}, `What was said of each (${title.toLowerCase()})`),
        parts.map((part) => foldedFacets(part.facets, part.datasetVersionId.name)))];
  });
}

function touched(view, side, { datasetVersionId: id, facets }, makers) {
  const dataset = { kind: "dataset", namespace: id.namespace, name: id.name };
  const maker = makers.get(id.version);
  return el("tr", {},
    el("th", { scope: "row" }, el("a", { href: addressOfNode(view, dataset), class: "name" }, id.name)),
    el("td", {}, unbroken(subsetText(facets))), el("td", { class: "number" }, rowsOf(facets)),
    el("td", {}, el("a", { href: addressOfNode(view, dataset, { version: id.version }), title: id.version,
      "aria-label": `Version ${id.version} of ${id.name}` }, el("code", {}, id.version.slice(0, 8)))),
    side === "input" && el("td", {}, made(view, maker)));
}

function made(view, maker) {
  if (!maker) return "not said";
  const more = { run: maker.run };
  const href = maker.job ? addressOfNode(view, { kind: "job", ...maker.job }, more) : addressOf({ in: view.in, ...more });
  return el("a", { href, class: "name" }, maker.job?.name ?? `run ${maker.run.slice(0, 8)}`);
}
