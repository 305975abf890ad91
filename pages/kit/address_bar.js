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
