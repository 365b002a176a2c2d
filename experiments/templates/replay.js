"use strict";

{
  const hand = JSON.parse(document.getElementById("hand").textContent);
  const last = hand.steps.length - 1;
  const at = (id) => document.getElementById(id);
  const items = [...document.querySelectorAll("#actions button")];
  const decisions = [...document.querySelectorAll(".decision")];
  const hasThoughts = decisions.some((decision) => decision.dataset.seat);
  const hasHindsight = decisions.some((decision) => decision.dataset.open !== undefined);
  let step = 0;
  let timer = null;

  // The seat whose view is shown, null if all cards are open.
  const viewer = () => (at("view").value === "" ? null : Number(at("view").value));

  // May whoever has this view know what only that seat knows?
  const mayKnow = (seat) => viewer() === null || viewer() === seat;

  // Hindsight tells of all hands, a thought of the hand of whoever decides, how it ended of none.
  function maySee({ dataset: { seat, open } }) {
    return open === undefined ? seat === undefined || mayKnow(Number(seat)) : viewer() === null;
  }

  function deed(number) {
    const { seat, deed, hidden } = hand.steps[number];
    return hidden === null || mayKnow(seat) ? deed : hidden;
  }

  function showPicture() {
    const view = viewer() === null ? 0 : viewer() + 1;
    at("picture").innerHTML = hand.pictures[view][step].map((piece) => hand.pieces[piece]).join("");
    at("text").textContent = at("picture").querySelector("desc").textContent;
  }

  function showWords() {
    const then = document.createElement("b");
    then.textContent = hand.steps[step].then;
    at("now").replaceChildren(deed(step), " ", then);
    at("slider").value = step;
    at("slider").setAttribute("aria-valuetext", `${step} of ${last}: ${deed(step)}`);
    at("count").textContent = `${step} / ${last}`;
  }

  function showActions() {
    items.forEach((item, number) => {
      item.textContent = deed(number);
      item.classList.toggle("later", number > step);
      item.toggleAttribute("aria-current", false);
    });
    const item = items[step];
    item.setAttribute("aria-current", "step");
    const list = at("actions");  // is scrolled by itself: the page must not jump
    const top = item.offsetTop;
    const room = list.clientHeight - item.offsetHeight;
    list.scrollTop = Math.min(Math.max(list.scrollTop, top - room), top);
  }

  function showThoughts() {
    let shown = null;
    for (const decision of decisions) {
      decision.hidden = Number(decision.dataset.step) !== step || !maySee(decision);
      shown = decision.hidden ? shown : decision;
    }
    at("thoughts-head").textContent = head();
    at("none").hidden = shown !== null;
    at("none").textContent = why();
  }

  function head() {
    if (step === last || !(hasThoughts || hasHindsight)) return "How it ended";
    return hasThoughts ? "What was thought" : "What it was worth";
  }

  function why() {
    if (step === last) return "The record stops here.";
    const there = decisions.filter((decision) => Number(decision.dataset.step) === step);
    if (there.some((decision) => decision.dataset.seat)) return "Thoughts tell of cards that this view does not show.";
    if (there.length) return "Hindsight is shown with all cards open.";
    return hasThoughts ? "No policy was asked." : "See the last step.";
  }

  function show() {
    showPicture();
    showWords();
    showActions();
    showThoughts();
    for (const [ids, isEnd] of [[["first", "back"], step === 0], [["forward", "end"], step === last]])
      for (const id of ids) at(id).setAttribute("aria-disabled", isEnd);
  }

  function go(number) {
    step = Math.min(Math.max(number, 0), last);
    show();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    at("play").classList.remove("playing");
    at("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (step === last) go(0);
    at("play").classList.add("playing");
    at("play").setAttribute("aria-label", "Stop");
    timer = setInterval(() => {
      go(step + 1);
      if (step === last) stop();
    }, Number(at("pace").value));
  }

  const toggle = () => (timer === null ? play() : stop());

  function jump(number) {
    stop();
    go(number);
  }

  at("first").onclick = () => jump(0);
  at("back").onclick = () => jump(step - 1);
  at("play").onclick = toggle;
  at("forward").onclick = () => jump(step + 1);
  at("end").onclick = () => jump(last);
  at("slider").oninput = () => jump(Number(at("slider").value));
  at("view").onchange = show;
  at("pace").onchange = () => {
    if (timer !== null) {
      stop();
      play();
    }
  };
  items.forEach((item, number) => (item.onclick = () => jump(number)));

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("select, input, pre")) return;  // which have these keys for themselves
    const moves = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last };
    if (event.key in moves) jump(moves[event.key]);
    else if (event.key === " " && !event.target.closest("button, summary")) toggle();
    else return;
    event.preventDefault();
  });

  show();
}
