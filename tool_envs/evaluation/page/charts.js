/* Drawings: a score on its line, bars with intervals, curves. Each says in words what it shows. */

/** The score between the trivial agents' floor and the oracle, with its interval. */
function scoreLine(run) {
  const { score, floor } = run;
  const words = score
    ? `${scoreName(run)} ${interval(score)}, between ${floorWords(run)} and the oracle's 1.000`
    : "Nothing was graded";
  const line = make("div.line", { role: "img", "aria-label": words });
  if (floor) line.append(at(make("span.floor", {}), floor.value));
  if (score) {
    if (score.low !== null) line.append(span(make("span.range", {}), score.low, score.high));
    line.append(at(make("span.dot", {}), score.value));
  }
  line.append(at(make("span.oracle", {}), 1));
  const ends = make("div.ends", { "aria-hidden": "true" },
    make("span", {}, floor ? `${floorWords(run)}` : "0.000, trivial agents were not run"),
    make("span", {}, "oracle 1.000"));
  return make("div.scoreline", {}, line, ends);
}

function floorWords(run) {
  if (!run.floor) return "0.000 (trivial agents were not run)";
  const { name, value } = run.floor;
  return value > 0 ? `best trivial agent (${name}) ${figure(value)}` : "trivial agents 0.000";
}

function at(element, share) {
  element.style.left = `${100 * share}%`;
  return element;
}

function span(element, low, high) {
  at(element, low);
  element.style.width = `${100 * (high - low)}%`;
  return element;
}

/** A rate from 0 to 1 as a bar, its interval over it. */
function bar(rate) {
  const track = make("span.bar", { "aria-hidden": "true" });
  track.append(span(make("span.fill", {}), 0, rate.value));
  if (rate.low !== null) track.append(span(make("span.whisker", {}), rate.low, rate.high));
  return track;
}

/** pass^k and pass@k against k, with the intervals of pass^k. */
function passCurve(run) {
  const [width, height, left, bottom, top] = [420, 200, 40, 28, 10];
  const most = run.pass_hat.length;
  const x = (k) => left + 14 + (k - 1) * ((width - left - 80) / Math.max(1, most - 1));
  const y = (rate) => top + (1 - rate) * (height - top - bottom);
  const words = run.pass_hat.map((point) => `pass^${point.k} ${interval(point)}`).join(", ");
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  for (const rate of [0, 0.5, 1]) {
    picture.append(draw("line", { class: "grid", x1: left, x2: width - 60, y1: y(rate), y2: y(rate) }),
      draw("text", { x: left - 8, y: y(rate) + 4, "text-anchor": "end" }, rate.toFixed(1)));
  }
  for (const [kind, points] of [["at", run.pass_at], ["hat", run.pass_hat]]) {
    const path = points.map((point) => `${x(point.k)},${y(point.value)}`).join(" ");
    picture.append(draw("polyline", { class: kind, points: path }));
    for (const point of points) {
      if (kind === "hat" && point.low !== null) {
        const place = x(point.k);
        picture.append(draw("line", { class: "hat", x1: place, x2: place, y1: y(point.low), y2: y(point.high) }));
      }
      picture.append(draw("circle", { class: kind, cx: x(point.k), cy: y(point.value), r: 4 }));
    }
  }
  const apart = run.pass_at[most - 1].value - run.pass_hat[most - 1].value > 0.12;
  picture.append(draw("text", { class: "name", x: width - 58, y: y(run.pass_hat[most - 1].value) + 4 }, "pass^k"));
  if (apart) {
    picture.append(draw("text", { class: "name", x: width - 58, y: y(run.pass_at[most - 1].value) + 4 }, "pass@k"));
  }
  for (const point of run.pass_hat) {
    picture.append(draw("text", { x: x(point.k), y: height - 8, "text-anchor": "middle" }, `k=${point.k}`));
  }
  return picture;
}
