// The graph as a picture of links: every node can be reached by the Tab key and says its state in words.

import { addressOfNode } from "./address.js";
import { svg } from "./elements.js";
import { sharedPrefix } from "./graph.js";
import { layOut } from "./layout.js";
import { drawnMark } from "./marks.js";
import { byPartition, partitionText, stateOf } from "./runs.js";

const FONT = { name: "12.5px system-ui, sans-serif", state: "11.5px system-ui, sans-serif" };
const LONGEST = 30;
const HEIGHT = { job: 52, dataset: 26 };
const STRIP = 10;

/** The picture, and where each node is in it. */
export function drawGraph(nodes, view) {
  const all = [...nodes.values()];
  const prefixes = Object.fromEntries(["job", "dataset"].map((kind) =>
    [kind, sharedPrefix(all.filter((node) => node.kind === kind).map((node) => node.name))]));
  const shown = all.map((node) => ({ ...node, ...labelled(node, prefixes[node.kind]) }));
  const edges = all.flatMap((node) => [...node.after].map((to) => [node.id, to]));
  const places = layOut(shown, edges);
  const picture = svg("svg", { class: "picture", viewBox: `0 0 ${places.width} ${places.height}`,
    width: places.width, height: places.height, role: "group", "aria-label": "Jobs and datasets, from left to right" },
    places.edges.map(drawnEdge),
    inReadingOrder(shown, places.nodes).map((node) => drawnNode(node, places.nodes.get(node.id), view)));
  return { picture, width: places.width, height: places.height, places: places.nodes, prefixes };
}

function labelled(node, prefix) {
  const whole = node.name.slice(prefix.length);
  const label = whole.length > LONGEST ? `${whole.slice(0, LONGEST - 10)}…${whole.slice(-9)}` : whole;
  const job = node.kind === "job";
  const state = job ? textWidth(stateText(node), FONT.state) + 36 : 0;
  return { label, width: Math.ceil(Math.max(textWidth(label, FONT.name) + 22, state, 60)), height: HEIGHT[node.kind] };
}

const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, font) {
  measure.font = font;
  return measure.measureText(text).width;
}

/** The word for the last run's state, and its partition where that is short. */
function stateText(node) {
  const of = partitionText(node.job?.latestRun);
  return `${stateOf(node.job?.latestRun).word} ${of.length > 10 ? "" : of}`.trim();
}

function inReadingOrder(nodes, places) {
  return [...nodes].sort((one, other) => {
    const [a, b] = [places.get(one.id), places.get(other.id)];
    return a.x - b.x || a.y - b.y;
  });
}

function drawnEdge({ from, to, back, points }) {
  const [start, ...others] = points;
  let path = `M${start.x} ${start.y}`;
  let last = start;
  for (const point of others) {
    // An edge that closes a cycle goes round below its ends.
    const bend = back ? 60 : (point.x - last.x) / 2;
    const below = back ? 50 : 0;
    path += last.y === point.y && !back ? `H${point.x}`
      : `C${last.x + bend} ${last.y + below} ${point.x - bend} ${point.y + below} ${point.x} ${point.y}`;
    last = point;
  }
  const edge = svg("path", { class: back ? "edge back" : "edge", d: path });
  edge.dataset.from = from;
  edge.dataset.to = to;
  return edge;
}

function drawnNode(node, place, view) {
  const top = place.y - node.height / 2;
  const job = node.kind === "job";
  const state = stateOf(node.job?.latestRun);
  const link = svg("a", { class: `node ${node.kind} ${job ? state.mark : ""}`, href: addressOfNode(view, node),
    transform: `translate(${place.x} ${top})`, "aria-label": spoken(node, state) },
    svg("title", {}, spoken(node, state)),
    svg("rect", { width: node.width, height: node.height, rx: job ? 5 : node.height / 2 }),
    job && svg("rect", { class: "side", width: 5, height: node.height, rx: 2 }),
    svg("text", { x: job ? 13 : 10, y: 17, class: "name" }, node.label),
    job && stateLine(node, state),
    job && strip(node.job));
  link.dataset.node = node.id;
  return link;
}

function stateLine(node, state) {
  return [drawnMark(state.mark, 13, 23), svg("text", { x: 27, y: 32, class: "state" }, stateText(node))];
}

/** The last verdict on each of the latest partitions, from old to new. */
function strip(job) {
  const verdicts = [...byPartition(job?.latestRuns ?? [])].slice(-STRIP);
  return verdicts.map(([, [run]], at) => drawnMark(stateOf(run).mark, 13 + at * 10.5, 39, 8));
}

function spoken(node, state) {
  if (node.kind === "dataset") return `dataset ${node.name} in ${node.namespace}`;
  const of = partitionText(node.job?.latestRun);
  return `job ${node.name} in ${node.namespace}: ${state.word}${of ? ` ${of}` : ""}`;
}

/** Shows what is selected, what it is made from and what is made from it, and fades the rest. */
export function highlight(picture, id, before, after) {
  const side = (each) => (each === id ? "selected" : before.has(each) ? "upstream" : after.has(each) ? "downstream" : "");
  picture.classList.toggle("focused", id !== null);
  for (const node of picture.querySelectorAll(".node")) {
    mark(node, side(node.dataset.node));
    if (node.dataset.node === id) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  }
  for (const edge of picture.querySelectorAll(".edge")) {
    const [from, to] = [side(edge.dataset.from), side(edge.dataset.to)];
    const up = from === "upstream" && (to === "upstream" || to === "selected");
    const down = to === "downstream" && (from === "downstream" || from === "selected");
    mark(edge, up ? "upstream" : down ? "downstream" : "");
  }
}

function mark(element, side) {
  for (const each of ["selected", "upstream", "downstream"]) element.classList.toggle(each, each === side);
}
