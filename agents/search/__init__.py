"""Players that search: compiled, asked in batches, see `agents.policies.Chooser`.

- `agents.search.pimc`: solves many worlds in which the hidden cards are dealt at random.
- `agents.search.ismcts`: grows one tree over such worlds.
- `agents.search.cheat`: sees all cards, to show how much there is to gain; no honest player.
- `agents.search.hearing`: worlds in which the others' bids make sense.
- `agents.search.leaves`: what actions are worth in one world.
- `agents.search.specs`: the specs that name them, such as `pimc:worlds=40,leaf=coalition`.
- `agents.search.options`: how options stand in a spec.
"""
