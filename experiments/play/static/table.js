// The table: shows one moment after another, and sends what the person chooses.

const table = document.body.dataset.table;
const ME = 0;
const at = (id) => document.getElementById(id);
let state = null; // the newest, as the server sent it
let shownHand = 0; // the hand whose lines stand in the log
let isBusy = true; // no action is sent while another is on its way or being shown
let skip = () => {}; // ends the pause in progress

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function picture(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

const signed = (number) => (number > 0 ? `+${number}` : `${number}`.replace("-", "−"));
const name = (seat) => document.querySelectorAll("thead th")[seat + 1].firstChild.textContent.trim();

// To and from the server.

async function ask(path, message) {
  const options = message && {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify(message),
  };
  const response = await fetch(`/api/tables/${table}${path}`, options);
  const answer = await response.json();
  if (answer.state) {
    tell("This table has moved on elsewhere; here is how it stands.");
    return answer.state;
  }
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Send, show what follows; afterwards the person may choose again.
async function play(path, message) {
  if (isBusy) return;
  await go(() => ask(path, {...message, seen: state.seen}));
}

function setBusy(busy) {
  isBusy = busy;
  at("turn").setAttribute("aria-busy", busy);
}

// A notice stays until the next request: `ask` may set one.
async function go(request) {
  const hadFocus = at("turn").contains(document.activeElement);
  setBusy(true);
  tell("");
  try {
    await show(await request());
    while (!state.over && state.actions.length === 0) await show(await ask("/others", {seen: state.seen}));
  } catch (error) {
    tell(error instanceof TypeError ? "The server does not answer." : error.message);
    if (state) drawTurn();
  }
  setBusy(false);
  if (state?.over) at("next")?.focus({preventScroll: true});
  else if (hadFocus) at("turn").focus({preventScroll: true});
}

// What is seen.

async function show(answer) {
  const frames = pace() ? answer.frames : answer.frames.slice(-1);
  for (const [place, frame] of frames.entries()) {
    const isLast = place === frames.length - 1;
    drawFrame(frame, answer.log);
    if (isLast) break;
    drawWaiting(frame);
    await pause(pace());
  }
  state = answer;
  drawState();
}

function pause(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    skip = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

function drawFrame(frame, log) {
  at("picture").replaceChildren(picture(frame.svg));
  at("hand").textContent = frame.hand;
  at("pot").textContent = frame.pot;
  at("dealer").textContent = name(frame.dealer);
  at("phase").textContent = frame.phase;
  drawLog(frame, log);
}

function drawLog(frame, log) {
  const list = at("log");
  if (frame.hand !== shownHand || list.children.length > frame.lines) list.replaceChildren();
  shownHand = frame.hand;
  for (const line of log.slice(list.children.length, frame.lines)) list.append(element("li", {}, line));
  showLastLine();
}

function showLastLine() {
  at("log").scrollTop = at("log").scrollHeight;
}

function drawWaiting(frame) {
  at("question").textContent = frame.turn > ME ? `${name(frame.turn)} is to act` : "…";
  if (at("skip")) return;
  const button = element("button", {id: "skip", type: "button"}, "Skip ", element("kbd", {}, "Enter"));
  button.addEventListener("click", hurry);
  at("actions").replaceChildren(button);
  at("advice").replaceChildren();
}

let isHurried = false;

function hurry() {
  isHurried = true;
  skip();
}

function pace() {
  return isHurried ? 0 : Number(at("speed").value);
}

function drawState() {
  at("text").textContent = state.text;
  drawTurn();
  drawAccounts();
  showLastLine(); // the log has less room beside more to choose from
}

function drawTurn() {
  isHurried = false;
  at("advice").replaceChildren();
  if (!state.over && state.actions.length === 0) return drawWaiting(state.frames.at(-1));
  at("question").textContent = state.over ? `${state.outcome}.` : state.question;
  at("actions").replaceChildren(...(state.over ? [paidList(), nextButton()] : choices()));
  for (const action of state.actions) makeClickable(action);
}

function choices() {
  const kinds = state.actions.some(({svg}) => svg) ? "cards" : "words";
  const list = element("div", {className: kinds}, ...state.actions.map(actionButton));
  const ask = element("button", {id: "ask", type: "button"}, "Advice ", element("kbd", {}, "A"));
  ask.addEventListener("click", advise);
  return [list, ask];
}

function actionButton({action, label, meaning, key, svg}) {
  const words = element("span", {}, element("b", {}, label), meaning && element("small", {}, meaning));
  const button = element("button", {type: "button", className: "action"}, words, element("kbd", {}, key.toUpperCase()));
  if (svg) {
    const card = picture(svg);
    card.setAttribute("aria-hidden", "true");
    button.prepend(card);
  }
  button.dataset.key = key;
  button.dataset.action = action;
  button.setAttribute("aria-keyshortcuts", key);
  button.addEventListener("click", () => play("/act", {action}));
  return button;
}

function makeClickable({action}) {
  const card = at("picture").querySelector(`[data-card="${action}"][data-place="hand"][data-seat="${ME}"]`);
  if (!card) return;
  card.classList.add("legal");
  card.addEventListener("click", () => play("/act", {action}));
}

function nextButton() {
  const button = element("button", {id: "next", type: "button", className: "primary"}, "Next hand ", element("kbd", {}, "Enter"));
  button.addEventListener("click", () => play("/next", {}));
  return button;
}

function paidList() {
  const {gains, pot} = state.paid.at(-1);
  const rows = gains.map((coins, seat) => element("li", {className: sign(coins)}, `${name(seat)} `, element("b", {}, signed(coins))));
  return element("ul", {className: "gains"}, ...rows, element("li", {}, "pot ", element("b", {}, `${pot}`)));
}

const sign = (coins) => (coins > 0 ? "gain" : coins < 0 ? "loss" : "");

function cell(coins) {
  return element("td", {className: sign(coins)}, signed(coins));
}

function drawAccounts() {
  const frame = state.frames.at(-1);
  const hands = state.paid.map(({gains, pot, equity}, place) => element("tr", {},
    element("th", {scope: "row"}, `${place + 1}`), ...gains.map(cell), element("td", {}, `${pot}`),
    cell(round(equity)), element("td", {}, link(`hands/${place + 1}.html`, "page"), " ", link(`hands/${place + 1}.json`, "JSON"))));
  const equity = round(state.paid.reduce((sum, {equity}) => sum + equity, 0));
  const sum = element("tr", {className: "sum"}, element("th", {scope: "row"}, "now"),
    ...frame.coins.map(cell), element("td", {}, `${frame.pot}`), cell(equity), element("td"));
  at("paid").replaceChildren(sum, ...hands.reverse());
  at("downloads").hidden = state.paid.length === 0;
}

const round = (equity) => Math.round(equity * 100) / 100;

function link(path, text) {
  return element("a", {href: `/table/${table}/${path}`, download: ""}, text);
}

function tell(text) {
  at("notice").textContent = text;
  at("notice").hidden = text === "";
}

// Advice.

async function advise() {
  if (isBusy || state.over) return;
  setBusy(true);
  at("advice").replaceChildren(element("p", {}, "Playing this hand out … The first time this is compiled, which takes a minute."));
  try {
    const answer = await ask("/advice", {seen: state.seen});
    if (answer.frames) await show(answer);
    else drawAdvice(answer);
  } catch (error) {
    at("advice").replaceChildren();
    tell(error instanceof TypeError ? "The server does not answer." : error.message);
  }
  setBusy(false);
}

function drawAdvice({policy, num_worlds, actions}) {
  const rows = actions.map(({name, chance, worth, behind}, place) => element("tr", {className: place ? "" : "best"},
    element("th", {scope: "row"}, name),
    element("td", {}, element("meter", {value: chance, min: 0, max: 1, ariaLabel: "probability"}), ` ${Math.round(chance * 100)}\u00a0%`),
    element("td", {}, interval(worth), element("small", {}, place ? `${interval(behind)} to it` : "the best"))));
  const heads = ["", `${policy} plays`, "worth"].map((text) => element("th", {scope: "col"}, text));
  at("advice").replaceChildren(
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)),
    element("p", {}, `Worth in pots per hand if all play on as ${policy} does, over ${num_worlds} deals that you cannot tell from this one; 95 % intervals. What others bid is not read as a hint.`));
}

const interval = ({mean, half_width}) => `${signed(mean.toFixed(2))} ± ${half_width.toFixed(2)}`;

// Keys.

function isTyping(target) {
  return target.closest("input, select, textarea") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
  if (event.key === "Enter") {
    if (event.target.closest("button, a, summary")) return;
    (at("next") ?? at("skip"))?.click();
  } else if (event.key.toLowerCase() === "a") {
    at("ask")?.click();
  } else {
    document.querySelector(`button[data-key="${CSS.escape(event.key.toLowerCase())}"]`)?.click();
  }
});

// Pace: what was chosen here last; nothing moves for those who asked their system for that.

const speed = at("speed");
const prefersStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
speed.value = localStorage.getItem("speed") ?? (prefersStill ? "0" : "700");
speed.addEventListener("change", () => {
  localStorage.setItem("speed", speed.value);
  skip();
});

// Another tab may have moved on, and the back button shows an old page.

function refresh() {
  if (!isBusy && document.visibilityState === "visible") go(async () => {
    const answer = await ask("");
    return answer.seen === state.seen ? state : answer;
  });
}

document.addEventListener("visibilitychange", refresh);
window.addEventListener("pageshow", (event) => event.persisted && refresh());
go(() => ask(""));
