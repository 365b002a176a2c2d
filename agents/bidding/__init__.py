"""Bidding rules as text: a small language for students' own ideas, run at the engine's speed.

A rule is a list of statements, separated by `;` or by line ends. At each decision the first
statement decides whose action is legal and whose condition holds; if none does, the seat takes the
quiet action (passes, refuses, leaves the upcard):

    knock if trumps >= 2 or top_trump >= re; else exchange if knocks == 0
    take if upcard >= queen; play if chance >= 0.5 and passes > 0; counter if sure_tricks >= 2

* Actions. Bestia: knock, pass, exchange, refuse. Beast: take, leave, play, counter, pass, show; a
  sure hand is shown wherever it may be, unless a statement says when to show.
* `else` before an action is for the reader. `# …` to the end of a line is a comment.
* Conditions: `or`, `and`, `not`, comparisons (`<`, `<=`, `==`, `!=`, `>=`, `>`, also
  `1 <= trumps <= 2`), `+ - * /`, `min(a, b)`, `max(a, b)`, parentheses, numbers, ranks and the
  features of the game (`agents.bidding.beast.FEATURES`, `agents.bidding.bestia.FEATURES`). What is
  divided by 0 is 0. A condition is worked out whole, so each `random` in it draws one number.
* Ranks are compared with ranks only, where the number 7 is the seven: `top_trump >= 7`; a feature
  that takes a rank counts cards from that rank up: `trumps(re) >= 1`, `sides(ace) == 2`.
* A number moves a rank up or down: `top_trump - 2 * knocks >= re`.
* `cards by SPEC`, say `cards by net:bestia-4`, names the baseline or network that plays the cards;
  else it is `threshold` in Beast and `sound` in Bestia.
"""
