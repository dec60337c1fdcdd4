// Questions to Marquez's API, and what went wrong with one in words. Knows paths, not what the answers mean.

const PATIENCE_MS = 30_000;
const PAGE = 100;

/** An answer that did not come, or was a refusal; the message is for a person. */
export class NoAnswer extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** What the server calls itself, by its last answer. */
export let serverSays = "";

async function ask(parts, params, signal) {
  const path = `api/v1/${parts.map(encodeURIComponent).join("/")}`;
  const query = new URLSearchParams(params ?? {}).toString();
  const where = query ? `${path}?${query}` : path;
  let response, text;
  try {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    response = await fetch(where, {
      headers: { Accept: "application/json" }, cache: "no-store",
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const slow = error.name === "TimeoutError";
    throw new NoAnswer(slow
      ? `The server has not answered ${path} for ${PATIENCE_MS / 1000} seconds. It is slow or hangs: try again.`
      : `The server does not answer (${path}). Is it still up? Start it, then read again.`);
  }
  serverSays = response.headers.get("server") ?? "";
  return parsed(response, text, path);
}

function parsed(response, text, path) {
  let body = null;
  try {
    body = text.trim() ? JSON.parse(text) : null;
  } catch {
    throw new NoAnswer(`${path} answered ${response.status} with something that is no JSON. Is this a Marquez API?`,
      response.status);
  }
  if (!response.ok) {
    const why = typeof body?.message === "string" ? body.message : JSON.stringify(body?.errors ?? body);
    throw new NoAnswer(`${path} was refused with status ${response.status}: ${why}`, response.status);
  }
  return body;
}

const jobParts = (job) => ["namespaces", job.namespace, "jobs", job.name];
const datasetParts = (dataset) => ["namespaces", dataset.namespace, "datasets", dataset.name];

export async function namespaces(signal) {
  return (await ask(["namespaces"], { limit: 1000 }, signal)).namespaces;
}

/** Jobs of one namespace or of all, the last seen first, up to `most`; and how many there are. */
export async function jobs(namespace, most, signal) {
  const parts = namespace ? ["namespaces", namespace, "jobs"] : ["jobs"];
  const found = [];
  let total = 0;
  do {
    const limit = Math.min(PAGE, most - found.length);
    const page = await ask(parts, { limit, offset: found.length }, signal);
    found.push(...page.jobs);
    total = page.jobs.length < limit ? found.length : page.totalCount;
  } while (found.length < Math.min(most, total));
  return { found, total };
}

export const job = (of, signal) => ask(jobParts(of), null, signal);
export const runs = (of, offset, signal) => ask([...jobParts(of), "runs"], { limit: PAGE, offset }, signal);
export const run = (id, signal) => ask(["jobs", "runs", id], null, signal);
export const jobFacetsOfRun = (id, signal) => ask(["jobs", "runs", id, "facets"], { type: "job" }, signal);
export const upstreamRuns = (id, signal) => ask(["runlineage", "upstream"], { runId: id, depth: 1 }, signal);
export const dataset = (of, signal) => ask(datasetParts(of), null, signal);
export const versions = (of, offset, limit, signal) => ask([...datasetParts(of), "versions"], { limit, offset }, signal);
export const version = (of, id, signal) => ask([...datasetParts(of), "versions", id], null, signal);

/** Jobs and datasets with this in their name. */
export async function search(text, namespace, signal) {
  const params = { q: text, limit: 25, sort: "NAME", ...(namespace ? { namespace } : {}) };
  return (await ask(["search"], params, signal)).results;
}
