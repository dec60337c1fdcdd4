// What a run's answer means: its state in words, the partitions it was for, what it read and wrote of them.
// Pure. Facets come from anybody, so nothing here trusts their form.

const WORDS = {
  COMPLETED: "completed", FAILED: "failed", ABORTED: "aborted", RUNNING: "running", NEW: "not started", OTHER: "other",
};
const MOST_DAYS = 1000;
const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const facet = (run, name) => run?.facets?.[name] ?? {};
const text = (value) => (typeof value === "string" ? value : "");

/** A word for the state, and the mark that is drawn for it. */
export function stateOf(run) {
  const state = run?.state ?? "";
  if (state === "ABORTED" && run.facets?.lineageAssets_block) return { mark: "aborted", word: "blocked" };
  if (state === "COMPLETED" && run.facets?.lineageAssets_reuse) return { mark: "completed", word: "reused" };
  const word = WORDS[state] ?? (state ? state.toLowerCase() : "no run");
  return { mark: ["completed", "failed", "aborted", "running"].includes(word) ? word : "none", word };
}

export const isBad = (run) => run?.state === "FAILED" || run?.state === "ABORTED";

/** First and last partition a run was for, or null where it does not say. */
export function partitionsOf(run) {
  const said = facet(run, "lineageAssets_attempt");
  if (text(said.partition)) return { first: said.partition, last: said.partition };
  if (text(said.partitions?.first) && text(said.partitions?.last)) return said.partitions;
  const nominal = text(facet(run, "nominalTime").nominalStartTime) || text(run?.nominalStartTime);
  if (!nominal) return null;
  const key = nominal.replace(/T00:00(:00(\.0+)?)?(Z|[+-]\d\d:\d\d)?$/, "").replace(/(:00)?(\.0+)?Z$/, "");
  return { first: key, last: key };
}

export function partitionText(run) {
  const range = partitionsOf(run);
  if (range === null) return "";
  return range.first === range.last ? range.first : `${range.first} to ${range.last}`;
}

/** The partitions of a run one by one. */
export function keysOf(run) {
  const range = partitionsOf(run);
  if (range === null) return [];
  if (range.first === range.last || !DAY.test(range.first) || !DAY.test(range.last)) return [partitionText(run)];
  const [first, last] = [Date.parse(range.first), Date.parse(range.last)];
  const count = Math.min((last - first) / DAY_MS + 1, MOST_DAYS);
  if (!(count >= 1)) return [partitionText(run)];
  return Array.from({ length: count }, (_, day) =>
    new Date(first + day * DAY_MS).toISOString().slice(0, 10));
}

/** Partition to its runs, the one whose verdict stands first; partitions in order. */
export function byPartition(runs) {
  const found = new Map();
  for (const run of runs) {
    for (const key of keysOf(run)) found.set(key, [...(found.get(key) ?? []), run]);
  }
  for (const attempts of found.values()) attempts.sort(later);
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The attempt that began last; of one attempt, the run for fewer partitions. */
function later(one, other) {
  const began = (run) => Date.parse(run.startedAt ?? run.createdAt) || 0;
  return began(other) - began(one) || keysOf(one).length - keysOf(other).length;
}

/** Days in a row as one range. */
export function ranges(keys) {
  const found = [];
  for (const key of [...new Set(keys)].sort()) {
    const open = found.at(-1);
    const next = open && DAY.test(key) && Date.parse(key) - Date.parse(open.last) === DAY_MS;
    if (next) open.last = key;
    else found.push({ first: key, last: key });
  }
  return found.map(({ first, last }) => (first === last ? first : `${first} to ${last}`)).join(", ");
}

/** Why a run is bad, in the words of whoever sent it. */
export function causeOf(run) {
  return text(facet(run, "lineageAssets_block").cause) || text(facet(run, "errorMessage").message);
}

/** What blocked a run: assets and partitions. */
export function blockersOf(run) {
  const by = facet(run, "lineageAssets_block").blockedBy;
  return (Array.isArray(by) ? by : []).map((each) => ({
    asset: Array.isArray(each?.assetKey) ? each.assetKey.join("/") : "", partition: text(each?.partition),
  }));
}

/** The partitions of a dataset that a run read or wrote. */
export function subsetText(facets) {
  const subset = facets?.subset;
  return conditionText(subset?.inputCondition ?? subset?.outputCondition, 0);
}

function conditionText(condition, depth) {
  if (typeof condition !== "object" || condition === null || depth > 30) return "";
  const deeper = (part) => conditionText(part, depth + 1);
  if (Array.isArray(condition.partitions)) {
    const keys = condition.partitions.map((part) => Object.values(part?.dimensions ?? {}).join("/") || text(part?.identifier));
    return ranges(keys);
  }
  if (Array.isArray(condition.locations)) return condition.locations.filter((each) => text(each)).join(", ");
  if (condition.operator) {
    const [left, right] = [deeper(condition.left), deeper(condition.right)];
    const range = /^.+ ≥ (\S+)$/.exec(left), until = /^.+ ≤ (\S+)$/.exec(right);
    if (condition.operator === "AND" && range && until) {
      return range[1] === until[1] ? range[1] : `${range[1]} to ${until[1]}`;
    }
    return condition.operator === "OR" ? `${left}, ${right}` : `${left} ${text(condition.operator).toLowerCase()} ${right}`;
  }
  if (condition.comparison) {
    const signs = { GREATER_EQUAL_THAN: "≥", LESS_EQUAL_THAN: "≤", EQUAL: "=", GREATER_THAN: ">", LESS_THAN: "<" };
    const side = (part) => String(part?.field ?? part?.value ?? part?.literal ?? "");
    return `${side(condition.left)} ${signs[condition.comparison] ?? condition.comparison} ${side(condition.right)}`;
  }
  return "";
}

/** Rows that a run read or wrote, where it says so. */
export function rowsOf(facets) {
  const said = [facets?.outputStatistics, facets?.inputStatistics, facets?.dataQualityMetrics];
  const count = said.map((part) => part?.rowCount).find((value) => typeof value === "number");
  return count === undefined ? "" : count.toLocaleString("en");
}
