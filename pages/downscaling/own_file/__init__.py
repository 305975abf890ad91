"""One's own file: the dialog that reads it, shows what was guessed, and sets the page's controls."""
