// A page that was asked for with its slides is covered until they are there (deck.py), or a person does something.
(() => {
  if (!new URLSearchParams(location.search).has('present')) return;
  const cover = document.createElement('div'), uncover = () => cover.remove();
  Object.assign(cover, { id: 'lab-slides-soon', role: 'status', textContent: 'Preparing the slides …' });
  Object.assign(cover.style, {
    position: 'fixed', inset: 0, zIndex: 999999, display: 'grid', placeItems: 'center', colorScheme: 'light dark',
    background: 'Canvas', color: 'CanvasText', font: '1.5rem sans-serif',
  });
  document.documentElement.append(cover);
  for (const name of ['keydown', 'pointerdown']) addEventListener(name, uncover, { once: true, capture: true });
  setTimeout(uncover, 60_000);
})();

// One entry of the browser's history for each visit of a page, with the settings that the page had when it was left.
// Streamlit adds an entry for every setting that the program changes, and one without settings as a page is left.
(() => {
  const { pushState, replaceState } = history;
  let before; // the address when something was clicked that may lead to another page

  addEventListener('click', () => { before = location.href; }, true);
  addEventListener('popstate', () => { before = undefined; });

  history.pushState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    if (to.pathname === location.pathname) { replaceState.call(history, state, title, url); return; }
    if (before && new URL(before).pathname === location.pathname) replaceState.call(history, history.state, title, before);
    before = undefined;
    pushState.call(history, state, title, url);
  };
})();
