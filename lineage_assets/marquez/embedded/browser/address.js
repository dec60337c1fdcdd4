// What is shown, as the part of the address after "#": it can be shared, and reload and back bring it again.

const KEYS = ["in", "namespace", "job", "dataset", "run", "partition", "version"];

/** What an address asks for; a key that it lacks is an empty text. */
export function viewOf(hash) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  return Object.freeze(Object.fromEntries(KEYS.map((key) => [key, asked.get(key) ?? ""])));
}

/** The address of a view. */
export function addressOf(view) {
  const said = KEYS.filter((key) => view[key]).map((key) => [key, view[key]]);
  return `#${new URLSearchParams(said)}`;
}

/** The address of a job or dataset, in the namespace chosen; `more` names a run, partition or version of it. */
export function addressOfNode(view, node, more = {}) {
  return addressOf({ in: view.in, namespace: node.namespace, [node.kind]: node.name, ...more });
}

/** The job or dataset that a view is of, or null. */
export function nodeOf(view) {
  const kind = view.job ? "job" : "dataset";
  return view[kind] ? { kind, namespace: view.namespace, name: view[kind] } : null;
}

/** One text for a job or dataset. Namespaces and names may hold any letter. */
export function idOf(node) {
  return JSON.stringify([node.kind, node.namespace, node.name]);
}
