// The model as a drawing to zoom, pan, collapse and search; a click on a node shows its facts.
(() => {
  const source = document.getElementById("explore-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const nodes = data.nodes;
  const SVG = "http://www.w3.org/2000/svg";
  const GAP_X = 22, GAP_Y = 58, FIRST_LEVELS = 3, MOST_AT_ONCE = 31;
  const INDENT = 36, ROW = 6, LEGIBLE = 0.7; // below, letters of 11 pixels are smaller than 8
  const box = document.getElementById("explore");
  const canvas = document.getElementById("canvas");
  const panel = document.getElementById("node-facts");
  const find = document.getElementById("find");
  const foundText = document.getElementById("found");
  box.hidden = false;
  document.getElementById("static-drawing").classList.add("print-only");

  const children = (v) => nodes[v].arcs.map((arc) => arc[1]);
  const parents = nodes.map(() => []);
  nodes.forEach((_, v) => children(v).forEach((child) => { if (!parents[child].includes(v)) parents[child].push(v); }));
  const depth = nodes.map(() => 0);
  nodes.forEach((_, v) => children(v).forEach((child) => { depth[child] = Math.max(depth[child], depth[v] + 1); }));

  const collapsed = new Set();
  let selected = 0, onPath = new Set(), matches = [], matchAt = -1;
  const view = { x: 0, y: 0, scale: 1 };
  let place = new Map(), size = { width: 0, height: 0 }, rows = [], shift = 0;
  const STEM = 8; // where the line to what is below leaves an indented node, with its fold button
  let indented = false; // a tree one node below the other, where its levels are too wide for the screen
  const levelOf = (v) => (data.tree ? depth[v] : nodes[v].layer);

  function collapseBelow(level) {
    collapsed.clear();
    nodes.forEach((node, v) => { if (node.arcs.length && depth[v] >= level) collapsed.add(v); });
  }

  function visible() {
    const seen = new Set([0]), waiting = [0];
    while (waiting.length) {
      const v = waiting.pop();
      if (collapsed.has(v)) continue;
      for (const child of children(v)) if (!seen.has(child)) { seen.add(child); waiting.push(child); }
    }
    return seen;
  }

  function hiddenBelow(v) {
    const seen = new Set(), waiting = children(v);
    while (waiting.length) {
      const u = waiting.pop();
      if (!seen.has(u)) { seen.add(u); waiting.push(...children(u)); }
    }
    return seen.size;
  }

  // Trees: every sub-tree gets a span of its own, parents stand in the middle. Diagrams keep their layered places.
  function layout() {
    indented = false;
    layoutLevels();
    if (data.tree && room() / size.width < LEGIBLE && place.size <= MOST_AT_ONCE) layoutIndented();
  }

  const room = () => canvas.clientWidth || 800;

  const heightOf = (v) => (indented ? 16 * nodes[v].lines.length + (nodes[v].detail ? 26 : 8) : nodes[v].height);

  function layoutIndented() {
    indented = true;
    place = new Map();
    const waiting = [0];
    let at = 8, width = 0;
    while (waiting.length) {
      const v = waiting.pop(), left = 8 + INDENT * depth[v];
      place.set(v, { x: left + nodes[v].width / 2, y: at });
      at += heightOf(v) + ROW;
      width = Math.max(width, left + nodes[v].width + 8);
      if (!collapsed.has(v)) waiting.push(...children(v).reverse());
    }
    size = { width, height: at };
  }

  function layoutLevels() {
    const shown = visible(), x = new Map();
    if (data.tree) {
      const span = new Map(), below = (v) => (collapsed.has(v) ? [] : children(v));
      const order = [...shown].sort((a, b) => depth[b] - depth[a]);
      for (const v of order) {
        span.set(v, Math.max(nodes[v].width + GAP_X, below(v).reduce((sum, child) => sum + span.get(child), 0)));
      }
      const put = [[0, 0]];
      while (put.length) {
        const [v, left] = put.pop();
        x.set(v, left + span.get(v) / 2);
        let at = left + (span.get(v) - below(v).reduce((sum, child) => sum + span.get(child), 0)) / 2;
        for (const child of below(v)) { put.push([child, at]); at += span.get(child); }
      }
    } else {
      const bends = nodes.flatMap((node) => node.arcs.flatMap((arc) => arc[2]));
      shift = Math.min(...nodes.map((node) => node.x - node.width / 2), ...bends) - GAP_X / 2;
      for (const v of shown) x.set(v, nodes[v].x - shift);
    }
    const tall = [];
    for (const v of shown) tall[levelOf(v)] = Math.max(tall[levelOf(v)] || 0, heightOf(v));
    let at = 12;
    rows = Array.from(tall, (height) => {
      const row = { top: at, bottom: at + (height || 0) };
      at = height ? row.bottom + GAP_Y : at;
      return row;
    });
    place = new Map([...shown].map((v) => [v, { x: x.get(v), y: rows[levelOf(v)].top }]));
    size = { width: Math.max(...[...shown].map((v) => x.get(v) + nodes[v].width / 2)) + GAP_X, height: at - GAP_Y + 12 };
  }

  function make(name, attributes, parent, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }

  function draw() {
    layout();
    canvas.replaceChildren();
    const arcs = make("g", { class: "arcs" }, canvas), labels = make("g", { class: "answers" }, canvas);
    for (const [v, from] of place) {
      if (collapsed.has(v)) continue;
      nodes[v].arcs.forEach(([answer, child, bends], side) => {
        if (indented) return elbow(v, child, answer, arcs, labels);
        const to = place.get(child), lean = nodes[v].arcs.length < 2 ? 0 : Math.min(nodes[v].width / 4, 36);
        const other = nodes[v].arcs.length < 2 ? from : place.get(nodes[v].arcs[1 - side][1]);
        const sign = to.x === other.x ? (side ? 1 : -1) : to.x > other.x ? 1 : -1;
        const x = from.x + sign * lean, y = from.y + heightOf(v);
        const path = make("path", { d: line(v, x, y, to, bends) }, arcs);
        if (onPath.has(v) && onPath.has(child)) path.classList.add("on-path");
        return make("text", { x, y: y + 12, "text-anchor": "middle" }, labels, answer);
      });
    }
    for (const [v, at] of place) drawNode(v, at);
    show();
  }

  // Down from the parent's left edge and right to the child, with the answer above the line's end.
  function elbow(v, child, answer, arcs, labels) {
    const from = place.get(v), to = place.get(child);
    const x = from.x - nodes[v].width / 2 + STEM, end = to.x - nodes[child].width / 2, y = to.y + heightOf(child) / 2;
    const path = make("path", { d: `M${x} ${from.y + heightOf(v)}V${y}H${end}` }, arcs);
    if (onPath.has(v) && onPath.has(child)) path.classList.add("on-path");
    make("text", { x: (x + end) / 2, y: y - 4, "text-anchor": "middle" }, labels, answer);
  }

  // Straight through rows, curved between them: an arc over several rows runs beside their nodes.
  function line(v, x, y, to, bends) {
    let path = `M${x} ${y}`, from = x;
    [...bends.map((bend) => bend - shift), to.x].forEach((stop, j) => {
      const row = levelOf(v) + 1 + j, last = j === bends.length;
      const start = rows[row - 1].bottom + 16, end = last ? to.y : rows[row].top, middle = (start + end) / 2;
      path += `V${start}C${from} ${middle} ${stop} ${middle} ${stop} ${end}`;
      from = stop;
    });
    return path;
  }

  function drawNode(v, at) {
    const node = nodes[v], leaf = node.arcs.length === 0;
    const group = make("g", {
      class: "node", "data-node": v, role: "button", tabindex: v === selected ? 0 : -1,
      "aria-label": `${node.text} ${node.detail}${collapsed.has(v) ? ", collapsed" : ""}`,
      transform: `translate(${at.x - node.width / 2} ${at.y})`,
    }, canvas);
    group.setAttribute("aria-pressed", String(v === selected && !panel.hidden));
    if (v === selected && !panel.hidden) group.classList.add("selected");
    if (onPath.has(v)) group.classList.add("on-path");
    if (matches.includes(v)) group.classList.add("found");
    make("rect", {
      class: "frame", width: node.width, height: heightOf(v), rx: leaf ? 12 : 3,
      stroke: leaf ? data.colours[data.classes ? node.label % data.colours.length : 0] : "var(--edge)",
    }, group);
    const step = indented ? 16 : 17;
    let y = indented ? 3 : 8;
    for (const line of node.lines) {
      y += step;
      make("text", { x: node.width / 2, y: y - 4, class: leaf ? "leaf" : "test" }, group, line);
    }
    if (node.detail) {
      y += indented ? 14 : 17;
      make("text", { x: node.width / 2, y: y - 4, class: "detail" }, group, node.detail);
      let x = 10;
      (node.shares || []).forEach((share, code) => {
        const width = share * (node.width - 20);
        if (width > 0) make("rect", { x, y: y + (indented ? 0 : 2), width, height: 6, fill: data.colours[code] }, group);
        x += width;
      });
    }
    if (!leaf) {
      const fold = make("g", { class: "fold", transform: `translate(${indented ? STEM : node.width / 2} ${heightOf(v)})` }, group);
      make("circle", { r: 9 }, fold);
      make("text", { y: 4 }, fold, collapsed.has(v) ? "+" : "–");
      make("title", {}, fold, collapsed.has(v) ? `show the ${hiddenBelow(v)} nodes below` : "hide what is below");
      fold.addEventListener("click", (event) => { event.stopPropagation(); toggle(v); });
    }
    group.addEventListener("click", () => select(v));
    group.addEventListener("dblclick", () => toggle(v));
  }

  function show() {
    const width = canvas.clientWidth || 800, height = canvas.clientHeight || 480;
    canvas.setAttribute("viewBox", `${view.x} ${view.y} ${width / view.scale} ${height / view.scale}`);
  }

  // What the screen leaves under the head of the page, and at least half of it.
  const below = () => Math.max(window.innerHeight - canvas.getBoundingClientRect().top - window.scrollY - 16, 0.55 * window.innerHeight, 320);

  // The whole model, in a drawing that is as high as it needs.
  function fit() {
    const width = room();
    let scale = Math.min(1.4, width / size.width);
    if (!indented) scale = Math.min(scale, below() / size.height);
    view.scale = scale;
    canvas.style.height = `${Math.ceil(size.height * scale) + 4}px`;
    view.x = indented ? 0 : (size.width - width / scale) / 2;
    view.y = 0;
    canvas.style.touchAction = "pan-y"; // nothing is hidden: a finger scrolls the page
    show();
  }

  // The whole model from the beginning; where that cannot be read, full size with the root in the middle.
  function start() {
    fit();
    if (view.scale >= LEGIBLE) return;
    view.scale = 1;
    canvas.style.height = "34rem";
    canvas.style.touchAction = "none";
    centre(0, true);
  }

  function centre(v, atTop) {
    const at = place.get(v);
    if (!at) return;
    view.x = at.x - canvas.clientWidth / view.scale / 2;
    view.y = atTop ? 0 : at.y - canvas.clientHeight / view.scale / 3;
    show();
  }

  function bringIn(v) {
    const at = place.get(v), node = nodes[v];
    const width = canvas.clientWidth / view.scale, height = canvas.clientHeight / view.scale;
    const inside = at.x - node.width / 2 >= view.x && at.x + node.width / 2 <= view.x + width
      && at.y >= view.y && at.y + heightOf(v) <= view.y + height;
    if (!inside) centre(v, false);
  }

  function zoom(factor, cx, cy) {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.style.touchAction = "none";
    const px = cx === undefined ? width / 2 : cx, py = cy === undefined ? height / 2 : cy;
    const scale = Math.min(4, Math.max(0.05, view.scale * factor));
    view.x += px / view.scale - px / scale;
    view.y += py / view.scale - py / scale;
    view.scale = scale;
    show();
  }

  function toggle(v) {
    if (!nodes[v].arcs.length) return;
    if (!collapsed.delete(v)) collapsed.add(v);
    select(v, true);
  }

  function openPanel() {
    if (!panel.hidden) return;
    panel.hidden = false;
    panel.parentElement.classList.add("open");
    draw();
    start();
  }

  function select(v, redraw) {
    selected = v;
    const held = canvas.contains(document.activeElement);
    openPanel();
    if (redraw || !place.has(v)) { reveal(v); draw(); } else {
      for (const group of canvas.querySelectorAll(".node")) {
        const chosen = Number(group.dataset.node) === v;
        group.classList.toggle("selected", chosen);
        group.setAttribute("tabindex", chosen ? 0 : -1);
        group.setAttribute("aria-pressed", String(chosen));
      }
    }
    bringIn(v);
    facts(v);
    if (held || redraw) canvas.querySelector(`[data-node="${v}"]`)?.focus({ preventScroll: true });
  }

  function reveal(v) {
    const waiting = [...parents[v]], seen = new Set();
    while (waiting.length) {
      const u = waiting.pop();
      if (seen.has(u)) continue;
      seen.add(u);
      collapsed.delete(u);
      waiting.push(...parents[u]);
    }
  }

  // ------------------------------------------------------------------ the facts of one node

  function table(parent, caption, head, rows) {
    const made = element("table", parent);
    element("caption", made, caption);
    const top = element("tr", element("thead", made));
    head.forEach((name, j) => { element("th", top, name, j ? "num" : "").scope = "col"; });
    const bodyPart = element("tbody", made);
    for (const row of rows) {
      const line = element("tr", bodyPart);
      row.forEach((cell, j) => {
        const made = element(j ? "td" : "th", line, cell, j ? "num" : "");
        if (!j) made.scope = "row";
      });
    }
  }

  const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–");

  function facts(v) {
    const node = nodes[v];
    panel.replaceChildren();
    element("h3", panel, node.arcs.length ? node.text : `${data.classes ? "Decision" : "Value"}: ${node.text}`);
    if (parents[v].length === 1 || v === 0) {
      const steps = [];
      for (let u = v; parents[u].length === 1; u = parents[u][0]) {
        const arc = nodes[parents[u][0]].arcs.find((one) => one[1] === u);
        steps.unshift(`${nodes[parents[u][0]].text.replace(/\?$/, "")}: ${arc[0]}`);
      }
      if (steps.length) {
        const list = element("ol", panel, undefined, "steps");
        steps.forEach((step) => element("li", list, step));
      }
    } else element("p", panel, `Reached on ${parents[v].length} arcs.`, "soft");
    if (node.rule) element("p", panel, `Rule ${node.rule}.`, "soft");
    if (data.classes) classFacts(node); else targetFacts(node);
    if (node.spread) spread(`Rows that come here, by ${node.column}`, node.spread);
  }

  const rowsText = (count) => `${count} ${count === 1 ? "row" : "rows"}`;

  function classFacts(node) {
    table(panel, `Classes (${rowsText(node.rows)})`, ["class", "weight", "share"],
      data.classes.map((label, code) => [label, node.counts[code], percent(node.shares[code])]));
    for (const group of node.groups) {
      table(panel, `${group.name}: who comes here, and who is predicted ${data.classes[data.positive]}`,
        ["group", "rows", "predicted", "rate"],
        group.rows.map(([label, rows, predicted]) => [label, rows, predicted, percent(predicted / rows)]));
    }
  }

  function targetFacts(node) {
    table(panel, `Targets (${rowsText(node.rows)})`, ["figure", "value"], node.targets);
    for (const group of node.groups) {
      table(panel, `${group.name}: who comes here`, ["group", "rows", "mean target", "mean prediction", "mean residual"], group.rows);
    }
    if (node.targetSpread) spread("Targets of the rows that come here", node.targetSpread);
  }

  function spread(title, values) {
    const figure = element("figure", panel);
    element("figcaption", figure, title);
    const WIDTH = 280, HEIGHT = 110, mark = values.mark || "threshold";
    const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 34}`, role: "img", class: "spread" }, figure);
    const words = [];
    if (values.counts) {
      const most = Math.max(1, ...values.counts);
      values.counts.forEach((count, j) => {
        const x = values.edges[j] * WIDTH, width = (values.edges[j + 1] - values.edges[j]) * WIDTH;
        const low = values.cut === null || values.edges[j + 1] <= values.cut + 1e-9;
        make("rect", {
          x, width: Math.max(0.5, width - 1), y: HEIGHT - (count / most) * HEIGHT, height: (count / most) * HEIGHT,
          class: low ? "low" : "high",
        }, svg);
      });
      if (values.cut !== null) {
        make("line", { x1: values.cut * WIDTH, x2: values.cut * WIDTH, y1: 0, y2: HEIGHT + 6, class: "cut" }, svg);
        const caption = make("text", { y: HEIGHT + 30 }, svg, `${mark} ${values.threshold}`);
        const length = caption.getComputedTextLength();
        caption.setAttribute("x", Math.max(0, Math.min(values.cut * WIDTH - length / 2, WIDTH - length)));
      }
      make("text", { x: 0, y: HEIGHT + 17 }, svg, values.low);
      make("text", { x: WIDTH, y: HEIGHT + 17, "text-anchor": "end" }, svg, values.high);
      words.push(`from ${values.low} to ${values.high}, ${mark} ${values.threshold}`);
    } else {
      const most = Math.max(1, ...values.bars.map((bar) => bar[1]));
      values.bars.forEach(([name, count, low], j) => {
        make("rect", { x: 0, y: j * 44 + 18, width: Math.max(1, (count / most) * WIDTH), height: 16, class: low ? "low" : "high" }, svg);
        make("text", { x: 0, y: j * 44 + 13 }, svg, `${name}: ${count}`);
        words.push(`${name}: ${count}`);
      });
    }
    if (values.missing) words.push(`missing: ${values.missing}`);
    svg.setAttribute("aria-label", words.join(", "));
    if (values.missing) element("p", figure, `Missing: ${values.missing}`, "soft");
  }

  // ------------------------------------------------------------------ search, keys, pointer

  function search(next) {
    const asked = find.value.trim().toLowerCase();
    const found = asked ? nodes.flatMap((node, v) => (node.text.toLowerCase().includes(asked) ? [v] : [])) : [];
    matchAt = next && found.length ? (matchAt + 1) % found.length : 0;
    matches = found;
    foundText.textContent = asked ? (found.length ? `${matchAt + 1} of ${found.length}` : "none") : "";
    if (found.length) { reveal(found[matchAt]); selected = found[matchAt]; }
    draw();
    if (found.length) { openPanel(); bringIn(selected); facts(selected); }
  }

  function neighbour(v, key) {
    if (key === "ArrowUp") return parents[v][0];
    if (key === "ArrowDown") return collapsed.has(v) ? undefined : children(v)[0];
    const row = [...place].filter(([, at]) => at.y === place.get(v).y).sort((a, b) => a[1].x - b[1].x).map(([u]) => u);
    return row[row.indexOf(v) + (key === "ArrowRight" ? 1 : -1)];
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) {
      const to = neighbour(selected, event.key);
      if (to !== undefined) select(to);
    } else if (event.key === " " || event.key === "Enter") toggle(selected);
    else if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });

  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); });
  canvas.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const others = [...pointers.values()].filter((one) => one.pointerId !== event.pointerId);
    if (others.length) {
      const distance = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
      const frame = canvas.getBoundingClientRect();
      if (distance(last) > 0) zoom(distance(event) / distance(last), event.clientX - frame.left, event.clientY - frame.top);
    } else {
      view.x -= (event.clientX - last.clientX) / view.scale;
      view.y -= (event.clientY - last.clientY) / view.scale;
      show();
    }
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });

  const press = (id, action) => document.getElementById(id).addEventListener("click", action);
  press("zoom-in", () => zoom(1.25));
  press("zoom-out", () => zoom(0.8));
  press("zoom-fit", fit);
  press("expand", () => { collapsed.clear(); draw(); start(); });
  press("collapse", () => { collapseBelow(FIRST_LEVELS); selected = 0; draw(); start(); facts(0); });
  find.addEventListener("input", () => search(false));
  find.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); search(true); } });
  let lastWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === lastWidth) { show(); return; } // a phone's bar of addresses changes the height only
    lastWidth = window.innerWidth;
    draw();
    start();
  });
  document.addEventListener("decision-path", (event) => {
    onPath = new Set(event.detail);
    reveal(event.detail[event.detail.length - 1]);
    draw();
  });

  if (data.tree && nodes.length > MOST_AT_ONCE) collapseBelow(FIRST_LEVELS);
  draw();
  start();
  facts(0);
})();
