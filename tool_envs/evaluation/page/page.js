/* Which part of the report is looked at stands in the address, after the #. */

/** Two runs on one task, side by side, trial by trial. */
function taskPage(place) {
  const task = VIEW.comparison.tasks[place];
  const last = VIEW.comparison.tasks.length - 1;
  const [first, second] = task.episodes;
  const trials = [...Array(Math.max(first.length, second.length)).keys()];
  return [
    make("nav.trail", { "aria-label": "Tasks" }, make("a", { href: "#/" }, "Report"),
      place > 0 && make("a", { href: `#/task/${place - 1}` }, "\u2190 previous task"),
      place < last && make("a", { href: `#/task/${place + 1}` }, "next task \u2192")),
    make("header.top", {}, make("h1", { tabindex: "-1" }, task.task), marks()),
    trials.map((trial) => [
      trials.length > 1 && make("h2.trial", {}, `Trial ${trial}`),
      make("div.runs", {}, task.episodes.map((places, run) => make("div", { "data-side": run },
        make("h2", {}, `${sideName(run)}: ${VIEW.runs[run].agent.name}`),
        trial < places.length ? episodeCards(run, places[trial]) : make("p.muted", {}, "not played")))),
    ]),
  ];
}

/** What an address names; what it names wrongly is the overview. */
function partsAt(address) {
  const [kind, ...numbers] = address.replace(/^#\/?/, "").split("/");
  const [first, second] = numbers.map((each) => /^\d+$/.test(each) ? Number(each) : -1);
  if (kind === "episode" && VIEW.runs[first] && VIEW.runs[first].episodes[second]) {
    return [VIEW.runs[first].episodes[second].id, () => episodePage(first, second)];
  }
  if (kind === "task" && VIEW.comparison && VIEW.comparison.tasks[first]) {
    return [VIEW.comparison.tasks[first].task, () => taskPage(first)];
  }
  return ["", overview];
}

const main = document.getElementById("main");
const kept = { overview: null, scroll: 0, from: null };

/** Shows what the address names. The overview is made once, so that it is found again as it was left. */
function show(moved) {
  const [title, parts] = partsAt(location.hash);
  const isOverview = parts === overview;
  const leaving = kept.overview && main.contains(kept.overview);
  if (leaving && !isOverview) {
    kept.scroll = window.scrollY;
    kept.from = document.activeElement;
  }
  if (isOverview && !kept.overview) {
    kept.overview = make("div", {});
    add(kept.overview, overview());
  }
  const shown = isOverview ? kept.overview : make("div", {});
  if (!isOverview) add(shown, parts());
  main.replaceChildren(shown);
  document.title = title ? `${title} \u2013 ${VIEW.title}` : VIEW.title;
  if (!moved) return;
  const back = isOverview && kept.from && kept.from.isConnected && kept.from !== document.body;
  (back ? kept.from : shown.querySelector("h1")).focus({ preventScroll: true });
  window.scrollTo(0, isOverview ? kept.scroll : 0);
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => show(true));
performance.mark("report-begins");
show(false);
performance.mark("report-shown");
