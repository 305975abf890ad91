// A page's undo history in the browser's tab: told to Python when a session begins, as after a reload, then kept anew.
const told = new Map(); // page -> the session that was told
const nameOf = page => `lab-history-${page}`;

const stored = page => { try { return sessionStorage.getItem(nameOf(page)); } catch { return null; } };
const store = (page, text) => { try { sessionStorage.setItem(nameOf(page), text); } catch { /* no room: no history */ } };

export default function ({ data, setTriggerValue }) {
  const { page, session, history } = data, before = stored(page);
  if (told.get(page) !== session) {
    told.set(page, session);
    if (before && before !== history) { setTriggerValue('before', before); return; }
  }
  store(page, history);
}
