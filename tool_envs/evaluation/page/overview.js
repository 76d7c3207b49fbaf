/* The first screen, what follows below it, and two runs task by task. */

function overview() {
  return [
    make("header.top", {}, make("h1", { tabindex: "-1" }, VIEW.title), marks()),
    VIEW.comparison && comparisonSummary(VIEW.comparison),
    make("div.runs", {}, VIEW.runs.map(firstScreen)),
    VIEW.comparison && playedTogether(),
    VIEW.comparison && tasksSection(VIEW.comparison),
    make("div.runs", {}, VIEW.runs.map(groupsSection)),
    episodesSection(),
  ];
}

/** Loud: why scores are no plain ones. */
function marks() {
  const found = VIEW.runs.flatMap((run, place) =>
    run.marks.map((mark) => `${sideName(place) && `${sideName(place)}: `}${mark}`));
  return found.map((mark) => make("p.mark", { role: "alert" }, make("strong", {}, "Not comparable: "), mark));
}

function firstScreen(run, place) {
  const id = `score-${place}`;
  return make("section.card", { "aria-labelledby": id },
    make("h2", { id }, VIEW.runs.length > 1 ? `${sideName(place)}: ${run.title}` : scoreName(run)),
    make("div.halves", {},
      make("div", {},
        make("p.score", {}, make("strong", {}, run.score ? figure(run.score.value) : "-"), " ", scoreWords(run)),
        scoreLine(run),
        make("h3", {}, "Why episodes failed"),
        causesOf(run, place),
        run.notes.map((note) => make("p.note", {}, note))),
      VIEW.runs.length === 1 && make("div", {}, make("h3", {}, "What was played"), pairsOf(run.played))));
}

function scoreName(run) {
  return run.score_name[0].toUpperCase() + run.score_name.slice(1);
}

function scoreWords(run) {
  if (!run.score) return "nothing was graded";
  const of = `of ${count(run.graded, "graded episode")}`;
  if (run.score.low === null) return of;
  const level = Math.round(100 * run.score.level);
  return `[${figure(run.score.low)}, ${figure(run.score.high)}] (${level}% interval over tasks) ${of}`;
}

function causesOf(run, place) {
  if (!run.causes.length) return make("p.muted", {}, "No episode failed.");
  const most = run.causes[0].count;
  const rest = run.failures - run.causes.reduce((sum, cause) => sum + cause.count, 0);
  return [
    make("ol.causes", {}, run.causes.map((cause) => make("li", {},
      make("a", { href: `#/episode/${place}/${cause.episode}` }, cause.cause),
      make("span.tally", {}, `${cause.count} of ${run.failures}`),
      causeBar(cause.count / most)))),
    rest > 0 && make("p.muted", {}, `and ${count(rest, "failure")} of other causes`),
  ];
}

function causeBar(share) {
  const track = make("span.bar", { "aria-hidden": "true" });
  track.append(span(make("span.fill.bad", {}), 0, share));
  return track;
}

function groupsSection(run, place) {
  const id = `groups-${place}`;
  return make("section.card", { "aria-labelledby": id },
    make("h2", { id }, `${sideName(place) && `${sideName(place)}: `}By kind of task`),
    make("div.halves", {},
      make("div", {},
        groupTable(run, "By family", "family", run.families),
        groupTable(run, "By difficulty", "difficulty", run.difficulties.filter((group) => group.name !== "0"))),
      make("div", {},
        make("h3", {}, "pass^k: all of k trials succeed"),
        passOf(run),
        make("h3", {}, "Figures"),
        pairsOf(run.figures))));
}

function passOf(run) {
  if (run.pass_hat.length > 1) return [passCurve(run), passTable(run)];
  return make("p.muted", {}, run.reward === "similarity"
    ? "There is none: a similarity is no success."
    : "A curve needs two graded trials of each task or more.");
}

function groupTable(run, caption, kind, groups) {
  const shown = groups.filter((group) => group.name !== "");
  if (!shown.length) return make("p.muted", {}, `${caption}: not known.`);
  return tableOf(caption, [kind, "tasks", run.score_name, ""], shown.map((group) =>
    [group.name, group.tasks, interval(group), bar(group)]));
}

function passTable(run) {
  return tableOf("pass^k and pass@k", ["k", "pass^k", "pass@k"], run.pass_hat.map((point, place) =>
    [point.k, interval(point), interval(run.pass_at[place])]));
}

/* --- Two runs */

function comparisonSummary({ paired: found }) {
  const sure = found.p_value < 0.05 ? "more than chance alone would show" : "no more than chance may show";
  const smallest = found.smallest_difference === null ? "-" : figure(found.smallest_difference);
  return make("section.card", { "aria-labelledby": "difference" },
    make("h2", { id: "difference" }, "Second minus first"),
    make("p.score", {}, make("strong", {}, signed(found.difference.value)), " ",
      found.difference.low === null ? "" : `[${signed(found.difference.low)}, ${signed(found.difference.high)}]`,
      ` over ${count(found.tasks, "task")}: ${sure}`),
    pairsOf([
      ["p-value", `${figure(found.p_value, 4)} (${found.test})`],
      ["tasks that flip", found.flips === null ? "-" : figure(found.flips)],
      ["smallest difference to be seen", smallest],
    ]));
}

/** What two runs of equal slices share, once; in what they differ, such as the agent, for each. */
function playedTogether() {
  const [first, second] = VIEW.runs.map((run) => run.played);
  const rows = first.flatMap(([name, text], place) => text === second[place][1]
    ? [[name, text]]
    : [[`first ${name}`, text], [`second ${name}`, second[place][1]]]);
  return make("section.card", { "aria-labelledby": "played" },
    make("h2", { id: "played" }, "What was played"), pairsOf(rows));
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${figure(value)}`;
}

function tasksSection(found) {
  const rows = found.tasks.map(taskRow);
  const box = make("input", { type: "checkbox", id: "differing", checked: true, change: () => choose() });
  const shown = make("span.muted", { role: "status" });
  const choose = () => {
    rows.forEach((row, place) => { row.hidden = box.checked && !differs(found.tasks[place]); });
    const left = rows.filter((row) => !row.hidden).length;
    shown.textContent = `${left} of ${count(rows.length, "task")}`;
  };
  choose();
  const table = tableOf("Task by task, losses first", ["task", "first", "second", "change"], []);
  table.querySelector("tbody").append(...rows);
  return make("section.card", { "aria-labelledby": "tasks" },
    make("h2", { id: "tasks" }, "Task by task"),
    make("p.filters", {}, make("label", {}, box, " only tasks that differ"), shown),
    table);
}

function differs(task) {
  return task.first !== task.second;
}

function taskRow(task, place) {
  const change = task.first === null || task.second === null ? null : task.second - task.first;
  const kind = change < 0 ? "worse" : change > 0 ? "better" : "";
  return make("tr", {},
    make("th", { scope: "row" }, make("a", { href: `#/task/${place}` }, task.task)),
    make("td", {}, figure(task.first)), make("td", {}, figure(task.second)),
    make("td", {}, change === null ? "-" : signed(change), kind && make(`span.badge.${kind}`, {}, kind)));
}
