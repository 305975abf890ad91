// Arrow keys, and the page keys of a presenter's remote, go back and forth through the steps of a story. The browser
// keeps what was guessed until it is closed.

const KEYS = { ArrowRight: 'next', PageDown: 'next', ArrowLeft: 'back', PageUp: 'back' };
const OWN = 'input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=combobox], .live-chart';

const press = event => {
  const where = KEYS[event.key];
  if (!where || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(OWN)) return;
  const button = document.querySelector(`.st-key-story-${where} button`);
  if (!button) return;
  event.preventDefault();
  if (!button.disabled) button.click();
};

const keep = ({ cookie, guesses }) => {
  const end = guesses ? '' : '; max-age=0';
  document.cookie = `${cookie}=${encodeURIComponent(guesses)}; path=/; SameSite=Lax${end}`;
};

// A story that was chosen by pointer keeps no focus: the arrow keys would go to the next story instead of the next step.
const leave = event => {
  if (event.detail && event.target.closest?.('.st-key-about')) document.activeElement?.blur();
};

export default function ({ data }) {
  keep(data);
  addEventListener('keydown', press);
  addEventListener('click', leave);
  return () => {
    removeEventListener('keydown', press);
    removeEventListener('click', leave);
  };
}
