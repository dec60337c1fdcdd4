// What is seen first: the jobs with partitions that stand failed or blocked, the drawing, and the same as a list.

import { addressOfNode, idOf, nodeOf } from "./address.js";
import { drawGraph, highlight } from "./drawing.js";
import { el, plural, table, unbroken } from "./elements.js";
import { reached } from "./graph.js";
import { markOf } from "./marks.js";
import { byPartition, causeOf, isBad, partitionText, ranges, stateOf } from "./runs.js";

/** Smaller letters cannot be read: what would need them is drawn larger, and scrolled. */
const LEAST_SCALE = 0.74;
const SCROLLED_SCALE = 0.9;
const STEP = 1.25;

/** The overview of the jobs read: fills both sections, and gives what to call when the selection changes. */
export function showOverview(sections, { jobs, total, nodes }, view) {
  sections.attention.replaceChildren(...attention(jobs, nodes, view));
  if (jobs.length === 0) {
    sections.graph.replaceChildren(el("p", { class: "notice" },
      `No job is known ${view.in ? `in namespace ${view.in}` : "here"} yet. `
      + "Send OpenLineage events to api/v1/lineage, then read again."));
    return () => {};
  }
  const drawing = drawGraph(nodes, view);
  const frame = el("div", { class: "frame" }, drawing.picture);
  const zoom = zoomer(frame, drawing);
  sections.graph.replaceChildren(
    el("div", { class: "bar" }, el("h2", {}, "Jobs and datasets"), zoom.buttons, legend()),
    left(jobs, total, drawing.prefixes),
    frame,
    el("details", { class: "list" }, el("summary", {}, `The same as a list (${plural(jobs.length, "job")})`),
      jobTable(jobs, view)));
  zoom.fit();
  return (selected) => select(drawing, nodes, frame, zoom, nodeOf(selected));
}

/** Names left out of the drawing, and jobs. */
function left(jobs, total, prefixes) {
  const cut = Object.values(prefixes).filter(Boolean);
  const said = [
    jobs.length < total && `The ${jobs.length} last seen of ${total.toLocaleString("en")} jobs are drawn: `
      + "choose a namespace, or search for a name.",
    cut.length > 0 && `Names are drawn without “${cut.join("” and “")}”.`,
  ].filter(Boolean);
  return said.length > 0 && el("p", { class: "quiet" }, said.join(" "));
}

function select(drawing, nodes, frame, zoom, node) {
  const id = node === null ? null : idOf(node);
  const known = id !== null && nodes.has(id);
  const none = new Set();
  highlight(drawing.picture, known ? id : null,
    known ? reached(nodes, id, "before") : none, known ? reached(nodes, id, "after") : none);
  zoom.fit();
  if (known) {
    const { x, y } = drawing.places.get(id);
    frame.scrollTo({ left: x * zoom.scale() - frame.clientWidth / 3, top: y * zoom.scale() - frame.clientHeight / 2 });
  }
}

function zoomer(frame, { picture, width, height }) {
  let scale = 1;
  let chosen = false;
  const to = (wanted) => {
    scale = Math.min(Math.max(wanted, 0.1), 3);
    picture.setAttribute("width", Math.round(width * scale));
    picture.setAttribute("height", Math.round(height * scale));
  };
  const fit = () => {
    if (chosen) return;
    const whole = (frame.clientWidth - 2) / width;
    to(whole < LEAST_SCALE ? SCROLLED_SCALE : Math.min(1, whole));
  };
  const button = (sign, title, wanted) => el("button", { type: "button", "aria-label": title, title, click: () => {
    chosen = true;
    to(wanted());
  } }, sign);
  const buttons = el("span", { class: "zoom" },
    button("−", "Smaller", () => scale / STEP), button("+", "Larger", () => scale * STEP),
    button("Whole", "The whole drawing", () => Math.min(1, (frame.clientWidth - 2) / width)));
  return { buttons, fit, scale: () => scale };
}

function legend() {
  const words = { completed: "completed", failed: "failed", aborted: "blocked or aborted", running: "running", none: "no run" };
  return el("span", { class: "legend" }, Object.entries(words).map(([mark, word]) =>
    el("span", {}, markOf(mark), ` ${word}`)));
}

/** Jobs of which a partition's last verdict is bad, as far as their last runs tell: failed ones and upstream first. */
function attention(jobs, nodes, view) {
  const rows = jobs.map((job) => {
    const verdicts = [...byPartition(job.latestRuns ?? [])];
    const bad = verdicts.filter(([, [run]]) => isBad(run));
    if (bad.length === 0 && isBad(job.latestRun)) bad.push([partitionText(job.latestRun), [job.latestRun]]);
    return { job, bad };
  }).filter(({ bad }) => bad.length > 0);
  if (jobs.length === 0) return [];
  const heading = el("h2", {}, "Needs a look");
  if (rows.length === 0) {
    return [heading, el("p", { class: "notice good" }, markOf("completed"),
      " By the last ten runs of each job, no partition stands failed or blocked. Older runs are shown with each job.")];
  }
  const count = (state) => rows.filter(({ bad }) => bad.some(([, [run]]) => run.state === state)).length;
  const depth = ({ job }) => reached(nodes, idOf({ kind: "job", ...job.id }), "before").size;
  rows.sort((one, other) => hasFailed(other) - hasFailed(one) || depth(one) - depth(other));
  return [heading,
    el("p", {}, `${plural(count("FAILED"), "job")} with failed, ${plural(count("ABORTED"), "job")} with blocked or aborted `
      + `partitions, by the last ten runs of each of ${plural(jobs.length, "job")}.`),
    el("ul", { class: "bad-jobs" }, rows.map((row) => badJob(row, view)))];
}

const hasFailed = ({ bad }) => Number(bad.some(([, [run]]) => run.state === "FAILED"));

function badJob({ job, bad }, view) {
  const words = [...new Set(bad.map(([, [run]]) => stateOf(run).word))];
  const parts = words.map((word) => {
    const of = bad.filter(([, [run]]) => stateOf(run).word === word);
    return el("span", { class: "verdict" }, markOf(stateOf(of[0][1][0]).mark), ` ${word} `, el("b", {}, unbroken(ranges(of.map(([key]) => key)))));
  });
  const cause = causeOf(bad.at(-1)[1][0]).split("\n")[0].slice(0, 200);
  return el("li", {}, el("a", { href: addressOfNode(view, { kind: "job", ...job.id }), class: "name" }, job.id.name), " ",
    parts, cause && el("span", { class: "cause" }, cause));
}

function jobTable(jobs, view) {
  const links = (kind, of) => (of ?? []).map((node) =>
    el("a", { href: addressOfNode(view, { kind, ...node }), class: "name line" }, node.name));
  const rows = [...jobs].sort((one, other) => (one.id.name < other.id.name ? -1 : 1)).map((job) => {
    const state = stateOf(job.latestRun);
    return el("tr", {}, el("td", {}, links("job", [job.id]), el("small", {}, job.id.namespace)),
      el("td", {}, el("span", { class: "number" }, markOf(state.mark), ` ${state.word}`), el("br"),
        unbroken(partitionText(job.latestRun))),
      el("td", {}, links("dataset", job.inputs)), el("td", {}, links("dataset", job.outputs)));
  });
  return table("Jobs", ["Job", "Last run", "Reads", "Writes"], rows);
}
