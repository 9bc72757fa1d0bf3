"""Find a number from 0 to 6 in three guesses; docs/environments.md describes the protocol."""
import json
import sys

WORDS = [*"0123456", "game", "higher", "lower", "what?"]
GAME, HIGHER, LOWER, WHAT = range(7, 11)
HELLO = {
    "version": 1,
    "name": "higher_lower",
    "words": WORDS,
    "tasks": {"train": 7, "heldout": 0},
    # A call is one token, so that no word has to end it.
    "spec": {"callEnd": WHAT, "maxCallTokens": 1, "maxTurns": 3, "maxEpisodeTokens": 6},
    "metrics": [{"name": "guesses", "meaning": "guesses made", "healthy": "lower"}],
}
games = {}  # The number and the guesses of the episode in each slot.


def reset(slot, task):
    games[slot] = (task, [])
    return {"observation": [GAME]}


def step(slot, call):
    number, guesses = games[slot]
    guesses += call
    if call == [number] or len(guesses) == 3:
        info = {"stop": "over", "guesses": len(guesses), "malformed": sum(g > 6 for g in guesses)}
        return {"observation": [], "done": True, "reward": int(call == [number]), "info": info}
    hint = WHAT if call[0] > 6 else HIGHER if call[0] < number else LOWER
    return {"observation": [hint], "done": False}


for line in sys.stdin:  # It ends where agentrl ends.
    message = json.loads(line)
    play = reset if message["type"] == "reset" else step
    answers = [{"slot": ask["slot"], **play(**ask)} for ask in message.get("ask", [])]
    said = HELLO if message["type"] == "hello" else {"answers": answers}
    print(json.dumps({"id": message["id"], **said}), flush=True)
