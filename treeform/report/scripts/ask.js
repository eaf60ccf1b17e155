// A form with the columns that the model tests: the decision, the path to it, and the fewest columns that would change it.
(() => {
  const source = document.getElementById("ask-data");
  if (!source) return;
  const model = JSON.parse(source.textContent);
  const texts = JSON.parse(document.getElementById("explore-data").textContent);
  const form = document.getElementById("ask-form");
  const answer = document.getElementById("ask-answer");
  document.getElementById("ask").hidden = false;
  const MISSING = "\u0000missing", OTHER = "\u0000other";
  const field = new Map(model.fields.map((one) => [one.name, one]));
  const CHANGES_SHOWN = 5;

  // ------------------------------------------------------------------ regions: sets of values of one column
  // Numbers: {low, high, present, missing} is low < x <= high. Levels: a set of keys, with keys for missing and for any other level.

  const key = (value) => JSON.stringify(value);
  const isNumber = (one) => ["number", "yes-no", "date", "datetime"].includes(one.kind);

  function everything(one) {
    if (isNumber(one)) return { low: -Infinity, high: Infinity, present: true, missing: one.missing };
    const keys = one.kind === "truth" ? [key(true), key(false)] : [...one.levels.map(([value]) => key(value)), OTHER];
    return { keys: new Set(one.missing ? [...keys, MISSING] : keys) };
  }

  function restricted(region, test, yes) {
    if (region.keys) {
      const holds = (name) => {
        if (test.kind === "is missing") return name === MISSING;
        if (name === MISSING) return test.or_missing;
        if (name === OTHER) return false;
        if (test.kind === "is true") return name === key(true);
        return (test.kind === "among" ? test.value : [test.value]).some((level) => key(level) === name);
      };
      return { keys: new Set([...region.keys].filter((name) => holds(name) === yes)) };
    }
    if (test.kind === "is missing") {
      return yes ? { ...region, present: false } : { ...region, missing: false };
    }
    // Whole days: "before day t" is "at most t - 1".
    const limit = test.kind === "before" ? test.value - 1 : test.value;
    const made = yes ? { ...region, high: Math.min(region.high, limit) } : { ...region, low: Math.max(region.low, limit) };
    return { ...made, missing: region.missing && test.or_missing === yes };
  }

  const isEmpty = (region) => (region.keys ? region.keys.size === 0 : !region.missing && !(region.present && region.low < region.high));

  function holds(region, value) {
    if (region.keys) return region.keys.has(value);
    if (value === MISSING) return region.missing;
    return region.present && region.low < value && value <= region.high;
  }

  // ------------------------------------------------------------------ following and changing

  function follow(row) {
    const path = [];
    let at = model.root;
    for (;;) {
      path.push(at);
      const node = model.nodes[at];
      if (!("if" in node)) return { path, label: node.label };
      const one = field.get(node.if.column);
      at = holds(restricted(everything(one), node.if, true), row.get(one.name)) ? node.yes : node.no;
    }
  }

  // All paths to leaves of another class; of each, the columns whose value it does not admit. Fewest first.
  function changes(row, label, fixed) {
    let fewest = Infinity, found = [], paths = 0;
    const waiting = [{ at: model.root, regions: new Map(), wrong: 0 }];
    while (waiting.length) {
      const { at, regions } = waiting.pop();
      const node = model.nodes[at];
      const needed = [...regions].filter(([name, region]) => !holds(region, row.get(name))).map(([name]) => name);
      if (needed.length > fewest || needed.some((name) => fixed.has(name))) continue;
      if (!("if" in node)) {
        if (++paths > model.most_paths) return { found, complete: false };
        if (node.label === label) continue;
        if (needed.length < fewest) { fewest = needed.length; found = []; }
        found.push({ label: node.label, leaf: at, needed: needed.map((name) => [name, regions.get(name)]) });
        continue;
      }
      for (const [yes, child] of [[true, node.yes], [false, node.no]]) {
        const name = node.if.column, before = regions.get(name) || everything(field.get(name));
        const region = restricted(before, node.if, yes);
        if (!isEmpty(region)) waiting.push({ at: child, regions: new Map(regions).set(name, region) });
      }
    }
    const distance = (one) => one.needed.reduce((sum, [name, region]) => sum + farness(name, region, row.get(name)), 0);
    return { found: found.sort((a, b) => distance(a) - distance(b)), complete: true };
  }

  // How far a number has to move, in shares of the range of training; 1 for anything else.
  function farness(name, region, value) {
    const one = field.get(name);
    if (region.keys || value === MISSING || one.low === null || !(one.high > one.low)) return 1;
    const by = value <= region.low ? region.low - value : value - region.high;
    return Math.min(1, by / (one.high - one.low));
  }

  // ------------------------------------------------------------------ words

  const levelText = (one, name) => {
    if (name === MISSING) return "missing";
    if (name === OTHER) return "any other";
    if (one.kind === "truth") return name === key(true) ? "true" : "false";
    return one.levels.find(([value]) => key(value) === name)[1];
  };

  const dateText = (days, kind) => {
    const text = new Date(Math.round(days * 86400000)).toISOString();
    return kind === "date" ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
  };

  function valueText(one, value) {
    if (!isNumber(one)) return levelText(one, value);
    if (value === MISSING) return "missing";
    if (one.kind === "yes-no") return value === 1 ? "yes" : value === 0 ? "no" : String(value);
    return one.kind.startsWith("date") ? dateText(value, one.kind) : String(value);
  }

  function regionText(one, region) {
    if (region.keys) {
      const names = [...region.keys].filter((name) => name !== OTHER);
      const other = region.keys.has(OTHER) ? ["any other"] : [];
      return [...names.map((name) => levelText(one, name)), ...other].join(" or ");
    }
    if (one.kind === "yes-no" && region.present) {
      const fits = [0, 1].filter((value) => holds(region, value)).map((value) => valueText(one, value));
      if (fits.length) return [...fits, ...(region.missing ? ["missing"] : [])].join(" or ");
    }
    const parts = [];
    if (region.present && region.low < region.high) {
      const low = Number.isFinite(region.low), high = Number.isFinite(region.high);
      const after = one.kind.startsWith("date") ? "after" : "more than", until = one.kind.startsWith("date") ? "until" : "at most";
      parts.push([low ? `${after} ${valueText(one, region.low)}` : "", high ? `${until} ${valueText(one, region.high)}` : ""]
        .filter(Boolean).join(" and ") || "any value");
    }
    return [...parts, ...(region.missing ? ["missing"] : [])].join(", or ");
  }

  // ------------------------------------------------------------------ the form

  function element(name, parent, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    if (parent) parent.appendChild(made);
    return made;
  }

  const inputs = new Map(), free = new Map();
  model.fields.forEach((one, j) => {
    const row = element("div", form, undefined, "field");
    const label = element("label", row, one.name);
    label.htmlFor = `ask-${j}`;
    let input;
    if (isNumber(one) && one.kind !== "yes-no") {
      input = element("input", row);
      input.type = one.kind === "date" ? "date" : one.kind === "datetime" ? "datetime-local" : "number";
      if (one.kind === "number") input.step = "any";
      if (one.usual !== null) input.value = one.kind === "number" ? one.usual : dateText(one.usual, one.kind).replace(" ", "T");
    } else {
      input = element("select", row);
      const options = one.kind === "yes-no" ? [["1", "yes"], ["0", "no"]]
        : one.kind === "truth" ? [[key(true), "true"], [key(false), "false"]]
          : [...one.levels.map(([value, text]) => [key(value), text]), [OTHER, "any other"]];
      if (one.missing) options.push([MISSING, "missing"]);
      for (const [value, text] of options) element("option", input, text).value = value;
      input.value = one.kind === "yes-no" ? String(one.usual) : one.usual === null ? MISSING : key(one.usual);
    }
    input.id = `ask-${j}`;
    inputs.set(one.name, input);
    const may = element("label", row, undefined, "may");
    const box = element("input", may);
    box.type = "checkbox";
    box.checked = true;
    may.append(" may change");
    box.setAttribute("aria-label", `${one.name} may change`);
    free.set(one.name, box);
  });

  // The row of the form; null where a value is needed and not there.
  function read() {
    const row = new Map();
    for (const [name, input] of inputs) {
      const one = field.get(name);
      if (input.tagName === "SELECT") {
        row.set(name, one.kind === "yes-no" && input.value !== MISSING ? Number(input.value) : input.value);
        continue;
      }
      let value = input.value.trim() === "" ? MISSING : Number(input.value);
      if (one.kind.startsWith("date") && value !== MISSING) {
        value = Date.parse(input.value + (one.kind === "date" ? "T00:00Z" : "Z")) / 86400000;
      }
      if (value === MISSING && !one.missing) return { row: null, needs: name };
      row.set(name, value);
    }
    return { row };
  }

  function decide(asked) {
    answer.replaceChildren();
    const { row, needs } = read();
    if (!row) {
      element("p", answer, `${needs} needs a value: it had none missing in training.`, "fail");
      return;
    }
    const { path, label } = follow(row);
    const leaf = path[path.length - 1];
    const told = element("p", answer, "Decision: ", "decision");
    element("strong", told, texts.classes[label]);
    told.append(` (rule ${texts.nodes[leaf].rule})`);
    const steps = element("ol", answer, undefined, "steps");
    path.slice(0, -1).forEach((node, j) => {
      const said = model.answers[path[j + 1] === model.nodes[node].yes ? 0 : 1];
      const item = element("li", steps, `${texts.nodes[node].text.replace(/\?$/, "")}: `);
      element("strong", item, said);
      item.append(` (${model.nodes[node].if.column} is ${valueText(field.get(model.nodes[node].if.column), row.get(model.nodes[node].if.column))})`);
    });
    const share = texts.nodes[leaf].shares[label];
    element("p", answer, `Of the ${texts.nodes[leaf].rows} rows of this report that come here, ${(100 * share).toFixed(1)} % are ${texts.classes[label]} (by weight).`, "soft");
    const fixed = new Set([...free].filter(([, box]) => !box.checked).map(([name]) => name));
    const { found, complete } = changes(row, label, fixed);
    element("h3", answer, "What would change the decision");
    if (!found.length) {
      element("p", answer, complete ? "Nothing among the columns that may change." : "Not found within the paths that were followed.");
    } else {
      const count = found[0].needed.length;
      element("p", answer, `Not fewer than ${count} ${count === 1 ? "column" : "columns"}${complete ? "" : ", as far as paths were followed"}:`, "soft");
      const list = element("ul", answer);
      for (const one of found.slice(0, CHANGES_SHOWN)) {
        const item = element("li", list);
        element("strong", item, texts.classes[one.label]);
        item.append(" if ", one.needed.map(([name, region]) => `${name} were ${regionText(field.get(name), region)} (now ${valueText(field.get(name), row.get(name))})`).join(" and "));
      }
      if (found.length > CHANGES_SHOWN) element("p", answer, `and ${found.length - CHANGES_SHOWN} more ways`, "soft");
    }
    for (const rule of document.querySelectorAll("ol.rules li")) rule.classList.remove("fires");
    document.getElementById(`rule-${texts.nodes[leaf].rule}`)?.classList.add("fires");
    if (asked) document.dispatchEvent(new CustomEvent("decision-path", { detail: path }));
  }

  form.addEventListener("input", () => decide(true));
  form.addEventListener("submit", (event) => { event.preventDefault(); decide(true); });
  decide(false);
})();
