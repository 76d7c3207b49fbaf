/* One episode: why it was graded so, the conversation, the versions. */

function episodePage(run, place) {
  const episode = VIEW.runs[run].episodes[place];
  return [
    make("nav.trail", { "aria-label": "Episodes" }, make("a", { href: "#/" }, "Report"), neighbours(run, place)),
    make("header.top", {}, make("h1", { tabindex: "-1" }, episode.id), marks()),
    episodeCards(run, place),
  ];
}

/** The episodes before and after it, among those that fit the filters. */
function neighbours(run, place) {
  const kept = [...matching()];
  const here = rowOf(run, place);
  const link = (index, text) => index !== undefined &&
    make("a", { href: `#/episode/${ROWS[index].side}/${ROWS[index].place}` }, text);
  return [link(kept.filter((index) => index < here).pop(), "\u2190 previous"),
    link(kept.find((index) => index > here), "next \u2192")];
}

function episodeCards(run, place) {
  const episode = ROWS[rowOf(run, place)];
  const told = conversationOf(run, place);
  const summary = make("section.card", { "aria-label": "Result" }, make("h2", {}, "Result"),
    make("p", {}, verdict(episode), " ", endWords(episode, told)),
    episode.cause && make("p", {}, make("strong", {}, `Why it failed: ${episode.cause}`),
      ` (whose fault: ${episode.blame})`));
  if (!told) {
    add(summary, [make("p.note", {}, "There is no record of this episode: give its store with --records.")]);
    return [summary];
  }
  add(summary, [ledgerOf(told.outcome), violationsOf(told.outcome), whyOf(told.why),
    told.notes.map((note) => make("p.note", {}, note))]);
  return [summary, conversationCard(told), make("section.card", { "aria-label": "Versions" },
    make("h2", {}, "Versions"), pairsOf(told.versions))];
}

function endWords(episode, told) {
  const by = told ? `, ended by ${told.outcome.ended_by}` : "";
  const codes = Object.entries(episode.codes).map(([code, times]) => `${code} ${times}`).join(", ");
  return `${episode.status} after ${count(episode.steps, "step")}${by}; seed ${episode.seed}` +
    (codes ? `; mistakes: ${codes}` : "");
}

function ledgerOf(outcome) {
  const { components, ...bins } = outcome.ledger;
  const given = Object.entries(bins).filter(([, value]) => value !== null).map(([name, value]) =>
    [name.replaceAll("_", " "), typeof value === "number" ? figure(value) : JSON.stringify(value)]);
  return [
    make("h3", {}, "Where the reward came from"),
    given.length ? pairsOf(given) : make("p", {}, "not graded"),
    make("ul.checks", {}, Object.entries(components).map(([name, value]) => make("li", {},
      make(`span.badge.${value === 1 ? "better" : "worse"}`, {}, value === 1 ? "met" : "not met"), ` ${name}`))),
  ];
}

function violationsOf(outcome) {
  if (!outcome.violations.length) return null;
  return [make("h3", {}, "Rules broken"), make("ul.checks", {}, outcome.violations.map(({ rule, step }) =>
    make("li", {}, make("span.badge.worse", {}, "broken"), ` ${rule} at `,
      make("button.link", { type: "button", click: (event) => showStep(event.target, step) }, `step ${step}`))))];
}

/** Brings a step of the conversation on the same side into view. */
function showStep(button, step) {
  const side = button.closest("[data-side]") || document.getElementById("main");
  const turn = side.querySelector(`[data-step="${step}"]`);
  if (!turn) return;
  turn.focus();
  turn.scrollIntoView({ block: "center" });
}

/** What the domain explains, whatever form that has. */
function whyOf(why) {
  if (!why || !Object.keys(why).length) return null;
  return [make("h3", {}, "Why the reward is 0"), explained(why)];
}

function explained(value) {
  if (value === null || typeof value !== "object") return make("span.code", {}, String(value));
  if (Array.isArray(value)) {
    return value.length ? make("ul.why", {}, value.map((each) => make("li", {}, explained(each)))) : "none";
  }
  return make("dl.why", {}, Object.entries(value).map(([name, part]) => make("div", {},
    make("dt", {}, name.replaceAll("_", " ")), make("dd", {}, explained(part)))));
}

/* --- The conversation */

function conversationCard(told) {
  const turns = make("ol.turns", {}, told.messages.map(turnOf));
  const fold = make("button", { type: "button", "aria-pressed": "false", click: () => {
    const open = fold.getAttribute("aria-pressed") === "false";
    fold.setAttribute("aria-pressed", String(open));
    turns.querySelectorAll("details").forEach((each) => { each.open = open; });
  } }, "Unfold all");
  return make("section.card", { "aria-label": "Conversation" },
    make("div.headed", {}, make("h2", {}, "Conversation"), fold), turns);
}

function turnOf(message) {
  if (message.role === "user") return make("li.turn.user", {}, who("user"), said(message.text));
  if (message.role === "tool") return make("li.turn.tool", {}, who("environment"), codeBadge(message.code),
    make("pre", {}, message.text));
  return make(message.broken.length ? "li.turn.agent.broken" : "li.turn.agent",
    { "data-step": message.step, tabindex: "-1" },
    who("agent", message.author), make("span.step", {}, `step ${message.step}`),
    message.broken.map((rule) => make("p.mark", {}, make("strong", {}, "Rule broken: "), rule)),
    message.thought && folded("thought", make("pre", {}, message.thought)),
    message.aside && folded("text beside the call, seen by nobody", make("pre", {}, message.aside)),
    message.text && said(message.text),
    message.calls.map(callOf));
}

function who(name, author) {
  return make("span.who", {}, author && author !== "policy" ? `${name} (${author})` : name);
}

function said(text) {
  return make("p.said", {}, text);
}

function folded(title, ...inside) {
  return make("details", {}, make("summary", {}, title), inside);
}

function callOf(call) {
  const title = [make("span.code", {}, `${call.name}(${brief(call.arguments)})`), " ", codeBadge(call.code),
    call.answer === null && make("span.badge", {}, "not answered")];
  return make("div.call", {},
    folded(title, make("h4", {}, "Arguments"), make("pre", {}, call.arguments),
      call.answer !== null && [make("h4", {}, call.by === "user" ? "The user said" : "Result"),
        make("pre", {}, call.answer)]),
    call.changes.map(changeOf));
}

function codeBadge(code) {
  return code ? make("span.badge.worse", {}, code) : null;
}

/** Arguments in one line, cut. */
function brief(text) {
  const line = text.replace(/^\{\s*|\s*\}$/g, "").replace(/\s*\n\s*/g, " ");
  return line.length > 90 ? `${line.slice(0, 90)}\u2026` : line;
}

function changeOf(change) {
  const kind = change.before === null ? "new record" : change.after === null ? "record removed" : "record changed";
  const rows = change.fields.map(([path, before, after]) => [path, value(before, "before"), value(after, "after")]);
  return make("div.change", {},
    make("p", {}, make("span.badge", {}, kind), " ", make("span.code", {}, `${change.table} ${change.key}`)),
    rows.length > 0 && tableOf(`What changed in ${change.table} ${change.key}`, ["where", "before", "after"], rows),
    folded("whole record", make("div.sides", {},
      wholeRecord("Before", change.before), wholeRecord("After", change.after))));
}

function value(text, kind) {
  return text === null ? make("span.muted", {}, "none") : make(`span.code.${kind}`, {}, text);
}

function wholeRecord(title, text) {
  return make("div", {}, make("h4", {}, title), make("pre", {}, text === null ? "none" : text));
}
