"""Maps along a slider, sent ahead of the hand that moves it."""
