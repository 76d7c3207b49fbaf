"use strict";

/* Elements and data. Text gets into the page as text nodes only: nothing here reads markup. */

/**
 * Makes an element.
 * @param {string} name - Tag, then classes after dots: "p.note.loud".
 * @param {Object} attributes - Attributes; a function is a listener, null and false leave one out.
 * @param {...*} children - Nodes, texts, numbers, or arrays of these; null and false are nothing.
 */
function make(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Makes an SVG element, with attributes and children as above. */
function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  add(element, children);
  return element;
}

/** A table: heads, then rows of cells; the first cell of a row is its head. */
function tableOf(caption, heads, rows) {
  return make("div.scroll", { tabindex: "0", role: "region", "aria-label": caption },
    make("table", {},
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell, place) =>
        make(place ? "td" : "th", place ? {} : { scope: "row" }, cell)))))));
}

/** Pairs of name and text. */
function pairsOf(rows) {
  return make("dl.pairs", {}, rows.map(([name, text]) => make("div", {},
    make("dt", {}, name), make("dd", {}, shorten(text)))));
}

/** A text whose digests of 64 digits are cut to 12, the whole of them as a title. */
function shorten(text) {
  return text.split(/([0-9a-f]{64})/).map((part, place) =>
    place % 2 ? make("abbr", { title: part }, part.slice(0, 12)) : part);
}

function figure(value, digits = 3) {
  return value === null || value === undefined ? "-" : value.toFixed(digits);
}

/** An estimate with its interval. */
function interval(of) {
  if (!of) return "-";
  return of.low === null ? figure(of.value) : `${figure(of.value)} [${figure(of.low)}, ${figure(of.high)}]`;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const VIEW = JSON.parse(document.getElementById("view").textContent);

/** The conversation of an episode, parsed when it is asked for; null: there is no record of it. */
function conversationOf(run, place) {
  const element = document.getElementById(`conversation-${run}-${place}`);
  return element && JSON.parse(element.textContent);
}

function sideName(run) {
  return VIEW.runs.length > 1 ? ["First", "Second"][run] : "";
}
