// The graph of jobs and datasets, from the jobs of the API. Pure; knows nothing of how it is drawn.

import { idOf } from "./address.js";

/** Nodes by id, each with what is before and after it. */
export function graphOf(jobs) {
  const nodes = new Map();
  const node = (kind, { namespace, name }) => {
    const id = idOf({ kind, namespace, name });
    if (!nodes.has(id)) nodes.set(id, { id, kind, namespace, name, job: null, before: new Set(), after: new Set() });
    return nodes.get(id);
  };
  const edge = (from, to) => {
    from.after.add(to.id);
    to.before.add(from.id);
  };
  for (const job of jobs) {
    const own = node("job", job.id);
    own.job = job;
    for (const read of job.inputs ?? []) edge(node("dataset", read), own);
    for (const written of job.outputs ?? []) edge(own, node("dataset", written));
  }
  return nodes;
}

/** Ids reached from a node by going "before" or "after", without itself. */
export function reached(nodes, id, side) {
  const found = new Set();
  const open = [id];
  while (open.length > 0) {
    for (const next of nodes.get(open.pop())?.[side] ?? []) {
      if (!found.has(next)) open.push(next);
      found.add(next);
    }
  }
  found.delete(id);
  return found;
}

/** The part of all names of a kind that says nothing, up to a dot: "example." of the sample's jobs. */
export function sharedPrefix(names) {
  const [first = ""] = names;
  const prefix = first.slice(0, first.indexOf(".") + 1);
  return names.every((name) => name.startsWith(prefix) && name.length > prefix.length) ? prefix : "";
}
