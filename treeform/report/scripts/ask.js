// A form with the columns that the model tests: the answer, the path to it, and what would change it.
(() => {
  const source = document.getElementById("ask-data");
  if (!source) return;
  const model = JSON.parse(source.textContent);
  const texts = JSON.parse(document.getElementById("explore-data").textContent);
  const form = document.getElementById("ask-form");
  const answer = document.getElementById("ask-answer");
  document.getElementById("ask").hidden = false;
  const { MISSING, OTHER, field, key, isDate, isNumber, isBeyond, holds, follow, score, changes } = decisions(model);
  const CHANGES_SHOWN = 5;
  const numbers = model.numbers; // of each outcome, in regression

  // ------------------------------------------------------------------ words

  const count = (number, one, several = `${one}s`) => `${number} ${number === 1 ? one : several}`;

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
    return isDate(one) ? dateText(value, one.kind) : String(value);
  }

  function regionText(one, region) {
    if (region.keys) {
      const names = [...region.keys].filter((name) => name !== OTHER);
      const other = region.keys.has(OTHER) ? ["any other"] : [];
      return [...names.map((name) => valueText(one, name)), ...other].join(" or ");
    }
    if (one.kind === "yes-no" && region.present) {
      const fits = [0, 1].filter((value) => holds(region, value)).map((value) => valueText(one, value));
      if (fits.length) return [...fits, ...(region.missing ? ["missing"] : [])].join(" or ");
    }
    const parts = [];
    if (region.present && region.low < region.high) {
      const low = Number.isFinite(region.low), high = Number.isFinite(region.high);
      const after = isDate(one) ? "after" : "more than", until = isDate(one) ? "until" : "at most";
      parts.push([low ? `${after} ${valueText(one, region.low)}` : "", high ? `${until} ${valueText(one, region.high)}` : ""]
        .filter(Boolean).join(" and ") || "any value");
    }
    return [...parts, ...(region.missing ? ["missing"] : [])].join(", or ");
  }

  // ------------------------------------------------------------------ the form

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
  let across = null;
  if (numbers) {
    const row = element("div", form, undefined, "field across");
    element("label", row, "Move the value across").htmlFor = "ask-across";
    across = element("input", row);
    Object.assign(across, { id: "ask-across", type: "number", step: "any", value: model.middle });
  }

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

  // ------------------------------------------------------------------ the answer

  function decide(asked) {
    answer.replaceChildren();
    const { row, needs } = read();
    if (!row) {
      element("p", answer, `${needs} needs a value: it had none missing in training.`, "fail");
      return;
    }
    const { path, label } = follow(row);
    const leaf = path[path.length - 1];
    const line = element("p", answer, numbers ? "Value: " : "Decision: ", "decision");
    element("strong", line, model.outcomes[label]);
    line.append(` (rule ${texts.nodes[leaf].rule})`);
    showPath(path, row);
    element("p", answer, rowsHere(leaf, label), "soft");
    showChanges(row, label);
    for (const rule of document.querySelectorAll("ol.rules li")) rule.classList.remove("fires");
    const fired = document.getElementById(`rule-${texts.nodes[leaf].rule}`);
    fired?.classList.add("fires");
    const many = fired?.closest(".many");
    if (many) many.scrollTop = fired.offsetTop - many.offsetTop - many.clientHeight / 2;
    if (asked) document.dispatchEvent(new CustomEvent("decision-path", { detail: path }));
  }

  function showPath(path, row) {
    const steps = element("ol", answer, undefined, "steps");
    path.slice(0, -1).forEach((at, j) => {
      const node = model.nodes[at];
      const item = element("li", steps, `${texts.nodes[at].text.replace(/\?$/, "")}: `);
      element("strong", item, model.answers[path[j + 1] === node.yes ? 0 : 1]);
      if (node.sum) {
        const { value, below } = score(node.sum, row);
        const side = below === 0 ? "on the threshold" : `${Math.abs(below)} ${below > 0 ? "below" : "above"} the threshold`;
        item.append(` (the sum is ${value}, ${side} ${node.sum.threshold})`);
      } else item.append(` (${node.if.column} is ${valueText(field.get(node.if.column), row.get(node.if.column))})`);
    });
  }

  function rowsHere(leaf, label) {
    const node = texts.nodes[leaf];
    if (!node.rows) return "None of the rows of this report comes here.";
    const rows = `Of the rows of this report, ${node.rows} ${node.rows === 1 ? "comes" : "come"} here`;
    if (!numbers) return `${rows}; ${(100 * node.shares[label]).toFixed(1)} % are ${model.outcomes[label]} (by weight).`;
    const facts = new Map(node.targets);
    return `${rows}. Their targets lie between ${facts.get("smallest")} and ${facts.get("largest")}, half of them between `
      + `${facts.get("lower quartile")} and ${facts.get("upper quartile")} (by weight). `
      + `The mean absolute residual is ${facts.get("mean absolute residual")}, the largest ${facts.get("largest residual")}.`;
  }

  // Which outcomes are on the other side, and how that is said; null where no number is given.
  function goal(label) {
    if (!numbers) return { wanted: (other) => other !== label, title: "What would change the decision" };
    if (across.value.trim() === "") return null;
    const limit = Number(across.value), above = numbers[label] > limit;
    return {
      wanted: (other) => (numbers[other] > limit) !== above,
      title: above ? `What would move the value to ${limit} or less` : `What would move the value above ${limit}`,
    };
  }

  function showChanges(row, label) {
    const asked = goal(label);
    if (!asked) return;
    const fixed = new Set([...free].filter(([, box]) => !box.checked).map(([name]) => name));
    const { ways, complete } = changes(row, asked.wanted, fixed);
    element("h3", answer, asked.title);
    if (!ways.length) {
      element("p", answer, !complete ? "Not found within the paths that were followed."
        : model.sums ? "No single column among those that may change." : "Nothing among the columns that may change.");
      return;
    }
    element("p", answer, model.sums ? "Each of these columns alone:"
      : `At least ${count(ways[0].needed.length, "column")} would have to change${complete ? "" : ", as far as paths were followed"}:`, "soft");
    const list = element("ul", answer);
    for (const one of ways.slice(0, CHANGES_SHOWN)) {
      const item = element("li", list);
      element("strong", item, model.outcomes[one.label]);
      item.append(" if ", one.needed.map(([name, region]) => changeText(field.get(name), region, row.get(name))).join(" and "));
    }
    if (ways.length > CHANGES_SHOWN) element("p", answer, `and ${count(ways.length - CHANGES_SHOWN, "more way")}`, "soft");
  }

  function changeText(one, region, value) {
    const beyond = isBeyond(one, region) ? ", which no row of this report has" : "";
    return `${one.name} were ${regionText(one, region)}${beyond} (now ${valueText(one, value)})`;
  }

  form.addEventListener("input", () => decide(true));
  form.addEventListener("submit", (event) => { event.preventDefault(); decide(true); });
  decide(false);
})();
