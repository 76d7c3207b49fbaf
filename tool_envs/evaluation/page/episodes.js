/* The list of episodes, and what it is filtered by. */

const ROWS = VIEW.runs.flatMap((run, side) => run.episodes.map((episode, place) => ({ side, place, ...episode })));

/** Which row an episode of a run is. */
function rowOf(run, place) {
  return ROWS.findIndex((row) => row.side === run && row.place === place);
}

/* What is chosen, and all words of each episode: read when a text is first looked for. */
const chosen = { run: "", status: "", cause: "", family: "", difficulty: "", text: "" };
let spoken = null;

function episodesSection() {
  const rows = ROWS.map(episodeRow);
  const shown = make("span.muted", { role: "status", id: "shown" });
  const choose = () => {
    const kept = matching();
    rows.forEach((row, index) => { row.hidden = !kept.has(index); });
    shown.textContent = `${kept.size} of ${count(rows.length, "episode")}`;
  };
  const heads = [...(VIEW.runs.length > 1 ? ["run"] : []), "task", "reward", "cause", "family", "difficulty", "steps"];
  const table = tableOf("Episodes", heads, []);
  table.querySelector("tbody").append(...rows);
  choose();
  return make("section.card", { "aria-labelledby": "episodes" },
    make("h2", { id: "episodes" }, "Episodes"), filters(choose, shown), table);
}

function filters(choose, shown) {
  const values = (name) => [...new Set(ROWS.map((row) => String(row[name])))].filter((value) => value !== "");
  const select = (name, label, options) => make("label", {}, label,
    make("select", { name, change: (event) => { chosen[name] = event.target.value; choose(); } },
      make("option", { value: "" }, "all"),
      options.map(([value, text]) => make("option", { value }, text))));
  const alike = (name) => values(name).map((value) => [value, value]);
  const counts = new Map();
  for (const { cause } of ROWS) if (cause) counts.set(cause, (counts.get(cause) || 0) + 1);
  const byCount = [...counts].sort((one, other) => other[1] - one[1])
    .map(([cause, times]) => [cause, `${cause} (${times})`]);
  const text = make("input", { type: "search", name: "text", placeholder: "in conversations too" });
  let waiting = 0;
  text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { chosen.text = text.value; choose(); }, 150);
  });
  return make("form.filters", { role: "search", submit: (event) => event.preventDefault() },
    VIEW.runs.length > 1 && select("run", "Run", VIEW.runs.map((_, side) => [String(side), sideName(side)])),
    select("status", "Status", [...successes(), ...alike("status")]),
    select("cause", "Cause", byCount),
    select("family", "Family", alike("family").sort()),
    select("difficulty", "Difficulty", alike("difficulty").filter(([value]) => value !== "0").sort()),
    make("label", {}, "Text", text), shown);
}

function successes() {
  return ROWS.every(isGradual) ? [] : [["success", "success"], ["failure", "failure"]];
}

/** The indexes of the rows that fit what is chosen, in order. */
function matching() {
  const wanted = chosen.text.trim().toLowerCase();
  if (wanted && !spoken) spoken = ROWS.map(wordsOf);
  const kept = new Set();
  ROWS.forEach((row, index) => {
    const fits = (!chosen.run || String(row.side) === chosen.run)
      && (!chosen.status || statusesOf(row).includes(chosen.status))
      && (!chosen.cause || row.cause === chosen.cause)
      && (!chosen.family || row.family === chosen.family)
      && (!chosen.difficulty || String(row.difficulty) === chosen.difficulty)
      && (!wanted || spoken[index].includes(wanted));
    if (fits) kept.add(index);
  });
  return kept;
}

function statusesOf(row) {
  if (isGradual(row)) return [row.status];
  return [row.status, row.reward === 1 ? "success" : row.reward === null ? "" : "failure"];
}

/** Whether its reward is a similarity, which is neither success nor failure. */
function isGradual(row) {
  return VIEW.runs[row.side].reward === "similarity";
}

/** All words of an episode, in lower case. */
function wordsOf(row) {
  const words = [row.id, row.cause, row.family, ...Object.keys(row.codes)];
  const told = conversationOf(row.side, row.place);
  for (const message of told ? told.messages : []) {
    words.push(message.text, message.thought || "", message.aside || "");
    for (const call of message.calls || []) words.push(call.name, call.arguments, call.answer || "", call.code || "");
  }
  return words.join("\n").toLowerCase();
}

function episodeRow(row) {
  const link = make("a", { href: `#/episode/${row.side}/${row.place}` }, row.id);
  return make("tr", {},
    VIEW.runs.length > 1 && make("td", {}, sideName(row.side)),
    make("th", { scope: "row" }, link),
    make("td", {}, verdict(row)), make("td", {}, row.cause), make("td", {}, row.family),
    make("td", {}, row.difficulty || "-"), make("td", {}, row.steps));
}

/** How an episode ended, in a word. */
function verdict(row) {
  if (row.reward !== null && isGradual(row)) {
    return make("span.badge", {}, `${figure(row.reward)}${row.status === "truncated" ? " truncated" : ""}`);
  }
  if (row.reward === 1) return make("span.badge.better", {}, "1.0");
  if (row.reward === null) return make("span.badge", {}, row.status === "infrastructure" ? "no reward" : row.status);
  return make("span.badge.worse", {}, row.status === "truncated" ? "0.0 truncated" : "0.0");
}
