// Places for the nodes of a directed graph: layers from left to right, few crossings, short edges.
// Pure geometry after Sugiyama. Cycles are allowed: the edge that closes one is laid out as if it went forward.

const GAP_X = 34;
const GAP_Y = 12;
const MARGIN = 12;
const SWEEPS = 12;
const MOST_COUNTED = 1500;

/**
 * Nodes are {id, width, height}, edges [from, to]. Gives the size, id -> {x, y} (left and middle)
 * and for each edge its points, from left to right but for `back` edges.
 */
export function layOut(nodes, edges) {
  const back = closing(nodes, edges);
  const forward = edges.filter(([from, to]) => from !== to && !back.has(`${from}\n${to}`));
  const layerOf = layered(nodes, forward);
  const grid = filledLayers(nodes, forward, layerOf);
  order(grid);
  settle(grid);
  return drawn(nodes, edges, grid);
}

/** Edges that close a cycle, found depth first. */
function closing(nodes, edges) {
  const after = grouped(edges, 0);
  const state = new Map();
  const found = new Set();
  for (const { id } of nodes) {
    const stack = state.has(id) ? [] : [[id, 0]];
    state.set(id, state.get(id) ?? "open");
    while (stack.length > 0) {
      const top = stack.at(-1);
      const edge = after.get(top[0])?.[top[1]++];
      if (edge === undefined) {
        state.set(top[0], "done");
        stack.pop();
      } else if (state.get(edge[1]) === "open") found.add(`${edge[0]}\n${edge[1]}`);
      else if (!state.has(edge[1])) {
        state.set(edge[1], "open");
        stack.push([edge[1], 0]);
      }
    }
  }
  return found;
}

function grouped(edges, end) {
  const found = new Map();
  for (const edge of edges) found.set(edge[end], [...(found.get(edge[end]) ?? []), edge]);
  return found;
}

/** Longest way from a source; then what has as many edges out as in moves right, to where it is used. */
function layered(nodes, edges) {
  const [after, before] = [grouped(edges, 0), grouped(edges, 1)];
  const waiting = new Map(nodes.map(({ id }) => [id, before.get(id)?.length ?? 0]));
  const sorted = nodes.map(({ id }) => id).filter((id) => waiting.get(id) === 0);
  const layer = new Map(nodes.map(({ id }) => [id, 0]));
  for (const id of sorted) {
    for (const [, to] of after.get(id) ?? []) {
      layer.set(to, Math.max(layer.get(to), layer.get(id) + 1));
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) === 0) sorted.push(to);
    }
  }
  for (const id of sorted.reverse()) {
    const out = after.get(id) ?? [];
    if (out.length > 0 && out.length >= (before.get(id)?.length ?? 0)) {
      layer.set(id, Math.min(...out.map(([, to]) => layer.get(to))) - 1);
    }
  }
  return layer;
}

/** Layers of cells; a long edge gets a thin cell in each layer that it passes. */
function filledLayers(nodes, edges, layerOf) {
  const layers = [];
  const put = (at, cell) => {
    while (layers.length <= at) layers.push([]);
    layers[at].push(cell);
    return cell;
  };
  const cells = new Map(nodes.map((node) =>
    [node.id, put(layerOf.get(node.id), { ...node, left: [], right: [], y: 0 })]));
  const ways = new Map();
  for (const [from, to] of edges) {
    const way = [cells.get(from)];
    for (let at = layerOf.get(from) + 1; at < layerOf.get(to); at += 1) {
      way.push(put(at, { id: null, width: 0, height: 2, left: [], right: [], y: 0 }));
    }
    way.push(cells.get(to));
    way.slice(1).forEach((cell, index) => {
      cell.left.push(way[index]);
      way[index].right.push(cell);
    });
    ways.set(`${from}\n${to}`, way);
  }
  return { layers, cells, ways };
}

/** Sorts each layer by the middle of its neighbours, back and forth, and keeps the best order seen. */
function order(grid) {
  const place = () => grid.layers.forEach((layer) => layer.forEach((cell, at) => { cell.at = at; }));
  place();
  let best = { crossings: Infinity, layers: [] };
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 === 0 ? "left" : "right";
    for (const layer of side === "left" ? grid.layers : [...grid.layers].reverse()) {
      for (const cell of layer) {
        const alone = cell.left.length + cell.right.length === 0;
        cell.wish = cell[side].length ? mean(cell[side].map((other) => other.at)) : alone ? Infinity : cell.at;
      }
      layer.sort((one, other) => Number(one.wish > other.wish) - Number(one.wish < other.wish) || one.at - other.at);
      layer.forEach((cell, at) => { cell.at = at; });
    }
    const crossings = crossed(grid.layers);
    if (crossings < best.crossings) best = { crossings, layers: grid.layers.map((layer) => [...layer]) };
  }
  if (best.layers.length > 0) grid.layers = best.layers;
  place();
}

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** How many pairs of edges cross; of a very busy layer nothing is counted. */
function crossed(layers) {
  let count = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((cell) => cell.right.map((to) => [cell.at, to.at]));
    if (ends.length > MOST_COUNTED) continue;
    for (let one = 0; one < ends.length; one += 1) {
      for (let other = one + 1; other < ends.length; other += 1) {
        if ((ends[one][0] - ends[other][0]) * (ends[one][1] - ends[other][1]) < 0) count += 1;
      }
    }
  }
  return count;
}

/** Heights: each cell as near to its neighbours as the order of its layer lets it be. */
function settle({ layers }) {
  for (const layer of layers) spread(layer, layer.map((_, at) => at));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const sides = [["left"], ["right"], ["left", "right"]][sweep % 3];
    for (const layer of sides[0] === "left" ? layers : [...layers].reverse()) {
      spread(layer, layer.map((cell) => {
        const near = sides.flatMap((side) => cell[side]);
        return near.length ? mean(near.map((other) => other.y)) : cell.left.length + cell.right.length ? cell.y : null;
      }));
    }
  }
  const top = Math.min(...layers.flat().map((cell) => cell.y - cell.height / 2));
  for (const cell of layers.flat()) cell.y += MARGIN - top;
}

/**
 * The places nearest to the wishes, in squares, that keep order and gaps: pools of cells that touch move as one.
 * A cell without a wish goes with the one above it.
 */
function spread(layer, wishes) {
  const offsets = [];
  layer.forEach((cell, at) => {
    const above = layer[at - 1];
    offsets.push(at === 0 ? 0 : offsets[at - 1] + (above.height + cell.height) / 2 + GAP_Y);
  });
  const pools = [];
  wishes.forEach((wish, at) => {
    const above = pools.at(-1);
    pools.push({ sum: wish === null ? (above ? above.sum / above.count : layer[at].y) : wish - offsets[at], count: 1 });
    while (pools.length > 1 && pools.at(-2).sum / pools.at(-2).count >= pools.at(-1).sum / pools.at(-1).count) {
      const last = pools.pop();
      pools.at(-1).sum += last.sum;
      pools.at(-1).count += last.count;
    }
  });
  let at = 0;
  for (const pool of pools) {
    for (let each = 0; each < pool.count; each += 1, at += 1) layer[at].y = pool.sum / pool.count + offsets[at];
  }
}

function drawn(nodes, edges, { layers, cells, ways }) {
  let x = MARGIN;
  for (const layer of layers) {
    const width = Math.max(...layer.map((cell) => cell.width), 0);
    for (const cell of layer) Object.assign(cell, { x, layerWidth: width, width: cell.id === null ? width : cell.width });
    x += width + GAP_X;
  }
  const ends = (cell) => [{ x: cell.x, y: cell.y }, { x: cell.x + cell.width, y: cell.y }];
  const points = ([from, to]) => {
    const way = ways.get(`${from}\n${to}`);
    const passed = way ?? [cells.get(from), cells.get(to)];
    return { from, to, back: way === undefined, points: passed.flatMap(ends).slice(1, -1) };
  };
  const bottom = Math.max(0, ...layers.flat().map((cell) => cell.y + cell.height / 2));
  return {
    width: Math.max(x - GAP_X + MARGIN, 0), height: bottom + MARGIN,
    nodes: new Map(nodes.map(({ id }) => [id, { x: cells.get(id).x, y: cells.get(id).y }])),
    edges: edges.map(points),
  };
}
