"""What buttons that play pictures one after the other say, on every page; `slides/deck.js` has the last two, too."""

PLAY, PAUSE = "▶\ufe0e Play", "❚❚ Pause"
BACK, NEXT = "‹ Back", "Next ›"
