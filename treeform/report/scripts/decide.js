// The model without its page: which leaf a row reaches, and which values would take it to another one.
// A row is a map from column to value: a number, the key of a level, or MISSING.
const decisions = (model) => {
  const MISSING = "\u0000missing", OTHER = "\u0000other", LARGEST = Number.MAX_VALUE;
  const field = new Map(model.fields.map((one) => [one.name, one]));
  const key = (value) => JSON.stringify(value);
  const isDate = (one) => one.kind.startsWith("date");
  const DAYS = { low: -719162, high: 2932896 }; // of the years 1 to 9999, in days since 1970-01-01
  const isNumber = (one) => ["number", "yes-no", "date", "datetime"].includes(one.kind);

  // ------------------------------------------------------------------ regions: sets of values of one column
  // Numbers: {low, high, present, missing} is low < x <= high. Levels: a set of keys, with keys for missing and for any other level.

  function everything(one) {
    if (isNumber(one)) return { low: -Infinity, high: Infinity, present: true, missing: one.missing };
    const keys = one.kind === "truth" ? [key(true), key(false)] : [...one.levels.map(([value]) => key(value)), OTHER];
    return { keys: new Set(one.missing ? [...keys, MISSING] : keys) };
  }

  function restricted(region, test, yes) {
    if (region.keys) {
      const holds = (name) => {
        if (test.is === "is missing") return name === MISSING;
        if (name === MISSING) return test.or_missing;
        if (name === OTHER) return false;
        if (test.is === "is true") return name === key(true);
        return (test.is === "among" ? test.value : [test.value]).some((level) => key(level) === name);
      };
      return { keys: new Set([...region.keys].filter((name) => holds(name) === yes)) };
    }
    if (test.is === "is missing") {
      return yes ? { ...region, present: false } : { ...region, missing: false };
    }
    // Whole days: "before day t" is "at most t - 1".
    const limit = test.is === "before" ? test.value - 1 : test.value;
    return { ...cut(region, limit, yes), missing: region.missing && test.or_missing === yes };
  }

  const cut = (region, limit, below) => (
    below ? { ...region, high: Math.min(region.high, limit) } : { ...region, low: Math.max(region.low, limit) }
  );

  const isEmpty = (region) => (region.keys ? region.keys.size === 0 : !region.missing && !(region.present && region.low < region.high));

  function holds(region, value) {
    if (region.keys) return region.keys.has(value);
    if (value === MISSING) return region.missing;
    return region.present && region.low < value && value <= region.high;
  }

  // ------------------------------------------------------------------ weighted sums, without rounding

  const UNIT = 2148; // exponents of products of doubles are at least -2148

  // A finite number as an integer times a power of two: [integer, exponent].
  function parts(value) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    const bits = view.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 2047n), fraction = bits & 0xfffffffffffffn;
    const size = exponent === 0 ? fraction : fraction | 0x10000000000000n;
    return [bits >> 63n ? -size : size, Math.max(exponent, 1) - 1075];
  }

  // The sum of products [a, b], in units of 2 ** -UNIT.
  function exactSum(products) {
    let sum = 0n;
    for (const [a, b] of products) {
      const [m, i] = parts(a), [n, j] = parts(b);
      sum += (m * n) << BigInt(i + j + UNIT);
    }
    return sum;
  }

  // The nearest double, for display: 64 leading bits, the last one set where something follows them.
  function nearest(sum) {
    const size = sum < 0n ? -sum : sum, shift = Math.max(0, size.toString(2).length - 64);
    let leading = size >> BigInt(shift);
    if (leading << BigInt(shift) !== size) leading |= 1n;
    const exponent = shift - UNIT, half = Math.trunc(exponent / 2);
    return (sum < 0n ? -1 : 1) * Number(leading) * 2 ** half * 2 ** (exponent - half);
  }

  function amount(term, value) {
    const one = field.get(term.column);
    if (term.of === "true") return value === key(true) ? 1 : 0;
    if (term.of === "level") return value === (term.level === null ? MISSING : key(term.level)) ? 1 : 0;
    if (term.of === "position") return one.levels.findIndex(([level]) => key(level) === value);
    return one.kind === "date" ? Math.floor(value) : value;
  }

  const products = (sum, row) => sum.terms.map((term) => [term.weight, amount(term, row.get(term.column))]);

  // Whether the double nearest to the sum is at most the threshold: see the module treeform.graph.export.sums.
  function sumHolds(sum, row) {
    const rest = exactSum([...products(sum, row), ...sum.limit.map(([a, b]) => [-a, b])]);
    return sum.includes_limit ? rest <= 0n : rest < 0n;
  }

  // The sum itself, and how far it is below the threshold.
  function score(sum, row) {
    const all = exactSum(products(sum, row));
    return { value: nearest(all), below: nearest(exactSum([[sum.threshold, 1]]) - all) };
  }

  // ------------------------------------------------------------------ following

  function answer(node, row) {
    if (node.sum) return sumHolds(node.sum, row);
    const one = field.get(node.if.column);
    return holds(restricted(everything(one), node.if, true), row.get(one.name));
  }

  function follow(row) {
    const path = [];
    let at = model.root;
    for (;;) {
      path.push(at);
      const node = model.nodes[at];
      if (!("yes" in node)) return { path, label: node.label };
      at = answer(node, row) ? node.yes : node.no;
    }
  }

  // ------------------------------------------------------------------ changing

  // All paths to wanted leaves; of each, the columns whose value it does not admit. Fewest first. For models without sums.
  function fewestChanges(row, wanted, fixed) {
    let fewest = Infinity, ways = [], paths = 0;
    const waiting = [{ at: model.root, regions: new Map() }];
    while (waiting.length) {
      const { at, regions } = waiting.pop();
      const node = model.nodes[at];
      const needed = [...regions].filter(([name, region]) => !holds(region, row.get(name))).map(([name]) => name);
      if (needed.length > fewest || needed.some((name) => fixed.has(name))) continue;
      if (!("yes" in node)) {
        if (++paths > model.most_paths) return { ways, complete: false };
        if (!wanted(node.label)) continue;
        if (needed.length < fewest) { fewest = needed.length; ways = []; }
        ways.push({ label: node.label, leaf: at, needed: needed.map((name) => [name, regions.get(name)]) });
        continue;
      }
      for (const [yes, child] of [[true, node.yes], [false, node.no]]) {
        const name = node.if.column, before = regions.get(name) || everything(field.get(name));
        const region = restricted(before, node.if, yes);
        if (!isEmpty(region)) waiting.push({ at: child, regions: new Map(regions).set(name, region) });
      }
    }
    return { ways: nearestFirst(ways, row), complete: true };
  }

  // What each column alone would do, all others as they are: exact for sums as well.
  function singleChanges(row, wanted, fixed) {
    const ways = model.fields.filter((one) => !fixed.has(one.name)).flatMap((one) => (
      isNumber(one) && one.kind !== "yes-no" ? movesOfNumber(one, row) : movesAmongValues(one, row)
    ).filter((way) => wanted(way.label)).map(({ label, region }) => ({ label, needed: [[one.name, region]] })));
    return { ways: nearestFirst(ways, row), complete: true };
  }

  function movesAmongValues(one, row) {
    const values = isNumber(one) ? [0, 1, ...(one.missing ? [MISSING] : [])] : [...everything(one).keys];
    const found = new Map();
    for (const value of values) {
      const { label } = follow(new Map(row).set(one.name, value));
      found.set(label, [...(found.get(label) || []), value]);
    }
    return [...found].map(([label, chosen]) => ({ label, region: { keys: new Set(chosen) } }));
  }

  function movesOfNumber(one, row) {
    const reached = [], waiting = [{ at: model.root, region: everything(one) }];
    while (waiting.length) {
      const { at, region } = waiting.pop();
      if (isEmpty(region)) continue;
      const node = model.nodes[at];
      if (!("yes" in node)) reached.push({ label: node.label, region });
      else if (node.sum ? !node.sum.terms.some((term) => term.column === one.name) : node.if.column !== one.name) {
        waiting.push({ at: answer(node, row) ? node.yes : node.no, region });
      } else if (node.sum) {
        const { limit, yesBelow } = turningPoint(node.sum, one.name, row);
        waiting.push({ at: yesBelow ? node.yes : node.no, region: cut(region, limit, true) });
        waiting.push({ at: yesBelow ? node.no : node.yes, region: cut(region, limit, false) });
      } else {
        waiting.push({ at: node.yes, region: restricted(region, node.if, true) });
        waiting.push({ at: node.no, region: restricted(region, node.if, false) });
      }
    }
    return joined(isDate(one) ? reached.map((move) => ({ ...move, region: days(one, move.region) })) : reached)
      .filter(({ region }) => !isEmpty(region));
  }

  // Dates of four-digit years only, and whole days where the column has no times.
  function days(one, region) {
    const whole = one.kind === "date" ? Math.floor : (limit) => limit;
    const low = region.low < DAYS.low ? -Infinity : whole(region.low), high = region.high > DAYS.high ? Infinity : whole(region.high);
    const known = low < DAYS.high && high >= DAYS.low;
    return { ...region, low, high, present: region.present && known };
  }

  // A sum grows or falls with each of its numbers: the largest double up to which the answer is that of the smallest one.
  function turningPoint(sum, name, row) {
    const at = (value) => sumHolds(sum, new Map(row).set(name, value));
    const yesBelow = at(-LARGEST);
    if (at(LARGEST) === yesBelow) return { limit: Infinity, yesBelow };
    let low = place(-LARGEST), high = place(LARGEST);
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (at(double(middle)) === yesBelow) low = middle; else high = middle;
    }
    return { limit: double(low), yesBelow };
  }

  // Doubles in order, as whole numbers, and back.
  function place(value) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    const bits = view.getBigInt64(0);
    return bits < 0n ? -(bits & 0x7fffffffffffffffn) : bits;
  }

  function double(at) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigInt64(0, at < 0n ? -at : at);
    return at < 0n ? -view.getFloat64(0) : view.getFloat64(0);
  }

  // Regions that touch and lead to the same answer are one.
  function joined(moves) {
    const made = [];
    for (const move of moves.sort((a, b) => a.region.low - b.region.low)) {
      const last = made[made.length - 1];
      if (last && last.label === move.label && last.region.high === move.region.low
        && last.region.present && move.region.present) {
        last.region = { ...last.region, high: move.region.high, missing: last.region.missing || move.region.missing };
      } else made.push(move);
    }
    return made;
  }

  const changes = model.sums ? singleChanges : fewestChanges;

  function nearestFirst(ways, row) {
    const distance = (way) => way.needed.reduce((sum, [name, region]) => sum + farness(name, region, row.get(name)), 0);
    return ways.sort((a, b) => distance(a) - distance(b));
  }

  // How far a number has to move, in shares of the range of training; 1 for anything else.
  function farness(name, region, value) {
    const one = field.get(name);
    if (region.keys || value === MISSING || one.low === null || !(one.high > one.low)) return 1;
    return (value <= region.low ? region.low - value : value - region.high) / (one.high - one.low);
  }

  // Whether no number of a region lies within those of the report's rows.
  const isBeyond = (one, region) => !region.keys && region.present && !region.missing && one.low !== null
    && (region.low >= one.high || region.high < one.low);

  return { MISSING, OTHER, field, key, isDate, isNumber, isBeyond, holds, follow, score, changes };
};

// A new element of the page, in `parent`.
function element(name, parent, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  if (parent) parent.appendChild(made);
  return made;
}
