// Times as text. All in UTC: partitions are, and two people on a call may sit in two zones.

/** A time as an element that gives the reader's own time as its title. */
import { el } from "./elements.js";

export function when(text) {
  const at = new Date(text ?? NaN);
  if (Number.isNaN(at.getTime())) return null;
  const iso = at.toISOString();
  return el("time", { datetime: iso, title: `${at.toLocaleString()} where you are` },
    `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`);
}

/** How long a run took, or has been going. */
export function tookText(run) {
  const started = Date.parse(run.startedAt);
  if (run.state === "RUNNING" && !Number.isNaN(started)) return `${lengthText(Date.now() - started)} so far`;
  return typeof run.durationMs === "number" ? lengthText(run.durationMs) : "";
}

function lengthText(milliseconds) {
  const seconds = Math.max(milliseconds, 0) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}
