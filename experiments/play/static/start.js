// The form: everything that can be chosen comes from /api/choices.

const form = document.querySelector("#form");
const fields = form.elements;
const OTHER = "other";
const games = await (await fetch("/api/choices")).json();

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const game = () => games[fields.game.value];

// Seats.

function policyChoices() {
  const trained = game().trained[fields.num_players.value];
  const policies = game().policies.map(({spec, idea}) => ({spec, text: `${spec} – ${idea}`}));
  if (trained) policies.unshift({spec: "trained", text: `trained – ${trained}, learnt by self-play`});
  return policies;
}

function defaultPolicy() {
  return game().trained[fields.num_players.value] ? "trained" : game().default_policy;
}

function fillPolicies(select, chosen) {
  const choices = [...policyChoices(), {spec: OTHER, text: "another, by its spec …"}];
  select.replaceChildren(...choices.map(({spec, text}) => element("option", {value: spec}, text)));
  select.value = choices.some(({spec}) => spec === chosen) ? chosen : defaultPolicy();
}

function seat(number) {
  const select = element("select", {className: "policy", ariaLabel: `player_${number}`});
  const spec = element("input", {
    className: "spec", ariaLabel: `spec of player_${number}`, hidden: true, maxLength: 200,
    placeholder: "threshold:0.5, net:FILE.safetensors", autocomplete: "off", spellcheck: false,
  });
  select.addEventListener("change", () => {
    spec.hidden = select.value !== OTHER;
    if (!spec.hidden) spec.focus();
  });
  const item = element("li", {}, element("label", {}, `player_${number} `, select), spec);
  item.dataset.field = `policies.${number - 1}`;
  return item;
}

function drawSeats() {
  const seats = document.querySelector("#seats");
  while (seats.children.length < fields.num_players.value - 1) seats.append(seat(seats.children.length + 1));
  while (seats.children.length > fields.num_players.value - 1) seats.lastChild.remove();
  for (const item of seats.children) {
    const select = item.querySelector("select");
    fillPolicies(select, select.value);
    item.querySelector("input").hidden = select.value !== OTHER;
  }
  fillPolicies(document.querySelector("#everyone"), document.querySelector("#everyone").value);
}

// Rules.

function control({name, default: usual, values}) {
  if (values) return element("select", {name}, ...values.map((value) => element("option", {value}, value)));
  if (typeof usual === "boolean") return element("input", {name, type: "checkbox"});
  return element("input", {name, type: "number"});
}

function drawRules() {
  document.querySelector("#options").replaceChildren(...game().options.map((option) => {
    const label = element("label", {}, element("b", {}, option.name), control(option), element("small", {}, option.meaning));
    label.dataset.field = `rules.${option.name}`;
    return label;
  }));
  const presets = game().presets.map(({name}, place) => element("option", {value: place}, name));
  document.querySelector("#preset").replaceChildren(...presets);
  setRules(game().presets[0].rules);
}

function ruleControl(name) {
  return document.querySelector(`#options [name="${name}"]`);
}

function setRules(rules) {
  for (const [name, value] of Object.entries(rules)) {
    const input = ruleControl(name);
    if (input.type === "checkbox") input.checked = value;
    else input.value = value;
  }
  tellChanges();
}

function readRules() {
  return Object.fromEntries(game().options.map(({name, default: usual}) => {
    const input = ruleControl(name);
    if (input.type === "checkbox") return [name, input.checked];
    return [name, typeof usual === "number" ? number(input) : input.value];
  }));
}

function tellChanges() {
  const rules = readRules();
  const changed = game().options.filter(({name, default: usual}) => rules[name] !== usual);
  document.querySelector("#changed").textContent = changed.length ? `· ${changed.length} changed` : "· as usual";
}

// A number if it is one; what else was typed goes to the server, which says what is allowed.
function number(input) {
  if (input.validity.badInput) return "no number";
  return /^-?\d{1,15}$/.test(input.value.trim()) ? Number(input.value) : input.value;
}

// The whole.

function drawGame() {
  const counts = game().player_counts.map((count) => element("option", {value: count, selected: count === 4}, count));
  fields.num_players.replaceChildren(...counts);
  document.querySelector("#seats").replaceChildren();
  document.querySelector("#everyone").replaceChildren();
  fields.pot.step = fields.game.value === "bestia" ? 3 : 1;
  document.querySelector("#pot-help").textContent =
    fields.game.value === "bestia" ? "a multiple of 3; 0 for none" : "0 for none";
  drawSeats();
  drawRules();
}

function message() {
  const seats = [...document.querySelectorAll("#seats li")];
  return {
    game: fields.game.value,
    num_players: Number(fields.num_players.value),
    name: fields.name.value,
    policies: seats.map((item) => {
      const select = item.querySelector("select");
      return select.value === OTHER ? item.querySelector("input").value : select.value;
    }),
    rules: readRules(),
    seed: fields.seed.value.trim() === "" ? null : number(fields.seed),
    pot: number(fields.pot),
  };
}

function clearError() {
  document.querySelector("#error").textContent = "";
  for (const input of form.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
}

function tellError({error, field}) {
  const told = document.querySelector("#error");
  const place = field && form.querySelector(`[data-field="${CSS.escape(field)}"]`);
  told.textContent = error;
  if (!place) {
    form.querySelector("#submit").before(told);
    return;
  }
  place.append(told);
  for (let around = place.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  const input = [...place.querySelectorAll("input, select")].filter((one) => !one.hidden).at(-1);
  if (!input) return;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", "error");
  input.focus();
}

async function setUp() {
  const response = await fetch("/api/tables", {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify(message()),
  });
  const answer = await response.json();
  if (!response.ok) return tellError(answer);
  remember(answer.name);
  location.assign(answer.url);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearError();
  const button = document.querySelector("#submit");
  button.disabled = true;
  button.textContent = "Setting the table …";
  try {
    await setUp();
  } catch {
    tellError({error: "The server does not answer."});
  }
  button.disabled = false;
  button.textContent = "Sit down";
});

for (const radio of fields.game) radio.addEventListener("change", drawGame);
fields.num_players.addEventListener("change", drawSeats);
document.querySelector("#options").addEventListener("input", tellChanges);
document.querySelector("#preset").addEventListener("change", (event) => setRules(game().presets[event.target.value].rules));
document.querySelector("#everyone").addEventListener("change", (event) => {
  for (const select of document.querySelectorAll("#seats select")) {
    select.value = event.target.value;
    select.dispatchEvent(new Event("change"));
  }
});

// Tables of this browser, the latest first.

function remembered() {
  try {
    return JSON.parse(localStorage.getItem("tables")) ?? [];
  } catch {
    return [];
  }
}

function remember(name) {
  const told = {name, game: fields.game.value, players: fields.num_players.value, when: Date.now()};
  localStorage.setItem("tables", JSON.stringify([told, ...remembered()].slice(0, 8)));
}

function drawTables() {
  const tables = remembered();
  document.querySelector("#tables").hidden = tables.length === 0;
  document.querySelector("#tables ul").replaceChildren(...tables.map(({name, game, players, when}) =>
    element("li", {}, element("a", {href: `/table/${encodeURIComponent(name)}`},
      `${game} with ${players}, ${new Date(when).toLocaleString()}`))));
}

drawGame();
drawTables();
