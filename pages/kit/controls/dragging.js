// A slider is followed while it is dragged. Streamlit's slider sends its value when the hand lets go; this sends the
// values on the way, past the slider, which would put its handle back to each of them. One value is in flight, the newest
// of those that come meanwhile waits. The address is written on release: browsers take it amiss when it changes often.
//
// A slider beside its picture (a fragment, picture_first.py) asks the server for the pictures alone (scripts/drags.py):
// Streamlit is told of no run, which would have it lay out the whole page at each value. Ordinary runs are that of the
// first value, which tells the browser what else a moved slider sets, and that of the release, which brings all the rest.
// Where pictures alone cannot be had, and for all other sliders, each value makes an ordinary run.
//
// On window, `lab-moved` {key, value, text, fraction} is dispatched at every move of a handle and `lab-rested` at its
// release; a slider of two handles has lists. What is private to Streamlit here is listed and checked in
// streamlit_parts.py (SCRIPT_PARTS); without it a value is sent on release alone.

const SLIDER = '[data-testid=stSlider]';

const reactOf = (node, name) => node[Object.keys(node).find(key => key.startsWith(name))];

// What the nearest component around an element was given, of those that were given something that fits.
const given = (node, fits) => {
  for (let fiber = reactOf(node, '__reactFiber$'); fiber; fiber = fiber.return) {
    if (fiber.memoizedProps && fits(fiber.memoizedProps)) return fiber.memoizedProps;
  }
};
const appOf = node => given(node, props => props.addScriptFinishedHandler && props.removeScriptFinishedHandler);
const widgetOf = node => given(node, props => props.widgetMgr?.setJsonValue && props.element?.id);
const sliderOf = node => given(node, props => props.onChangeEnd && 'minValue' in props && 'maxValue' in props);
const valueOf = handle => reactOf(handle, '__reactProps$')?.value; // the attribute is rounded to a step

const handlesOf = slider => [...slider.querySelectorAll('input[type=range]')];
const keyOf = slider => /(?:^| )st-key-(\S+)/.exec(slider.closest('[class*=st-key-]')?.className)?.[1] ?? '';

// What the handles of a slider show: where they stand, and what is told of that.
const shownBy = slider => {
  const handles = handlesOf(slider), { minValue, maxValue } = sliderOf(handles[0]), at = handles.map(valueOf);
  const text = handles.map(handle => handle.getAttribute('aria-valuetext') ?? '');
  const told = {
    value: text.map((words, i) => (words && Number.isFinite(Number(words)) ? Number(words) : at[i])),
    text, fraction: at.map(value => (value - minValue) / (maxValue - minValue || 1)),
  };
  if (at.length === 1) for (const name of Object.keys(told)) [told[name]] = told[name];
  return { at, text, detail: { key: keyOf(slider), ...told } };
};

// ---- what goes to the server ------------------------------------------------------------------------------------------
const put = ({ widgetMgr, element, fragmentId }, { at, text }, triggerRerun) => {
  const how = { fragmentId, fromUser: false, triggerRerun };
  if (element.options?.length) widgetMgr.setStringArrayValue(element.id, [text].flat(), how);
  else widgetMgr.setDoubleArrayValue(element.id, at, how);
};

// The slider itself sends a value only where it is not there already, and must know it: else it does not see that the
// program puts the handle back to where the drag began.
const acknowledge = (handle, { at }) => {
  const widget = widgetOf(handle), { minValue, maxValue, onChangeEnd } = sliderOf(handle);
  const other = at.map(value => (value === minValue ? maxValue : minValue));
  put(widget, { at: other, text: other.map(value => widget.element.options?.[value] ?? '') }, false);
  onChangeEnd(at);
};

// What changes before the browser's next task goes to the server in one message. Streamlit then runs the fragment of the
// first change alone, and what the others were to do is lost: here the whole page runs. A timer's run would send a press
// that waits for its message once more: it is left out, and the timer's next follows.
const mendMessages = manager => {
  if (!manager?.scheduleFlush || manager.labMended) return;
  const { scheduleFlush, sendUpdateWidgetsMessage } = manager;
  let several = false;
  manager.scheduleFlush = fragment => {
    several ||= manager.flushScheduled && fragment !== manager.scheduledFragmentId;
    scheduleFlush.call(manager, fragment);
  };
  manager.sendUpdateWidgetsMessage = (fragment, isTimer) => {
    if (isTimer && manager.flushScheduled) return;
    sendUpdateWidgetsMessage.call(manager, several ? undefined : fragment, isTimer);
    several = false;
  };
  manager.labMended = true;
};

// ---- Python is told which drag a value comes from (dragging.py), with that value --------------------------------------
const FOLLOWED_MS = 2000; // the run of the page that follows the last value (picture_first.py) belongs to the drag
let me = null, drags = Date.now(), told = 0, forgetting = 0;

const tell = drag => {
  clearTimeout(forgetting);
  if (drag === told) return;
  told = drag;
  const widget = me && widgetOf(me);
  widget?.widgetMgr.setJsonValue(widget.element.id, { drag }, { fromUser: false }); // makes nothing run by itself
};
const forget = () => { if (runs()) forgetting = setTimeout(forget, 100); else tell(0); };

// ---- the hand ----------------------------------------------------------------------------------------------------------
const PALE_MS = 400; // after a release: until then the run of the page has begun
const BUSY_MS = 40; // while the page runs: until the server is asked again
let session = '';
let hand = null; // the drag that goes on: its slider, whether it has begun, what was shown, seen and sent last
let awaited = false; // whether the last value has not been answered

const say = (name, detail) => dispatchEvent(new CustomEvent(name, { detail }));
// Words and tables are of the value before until the page has run: page_layout.css makes them pale.
const HELD = 'data-lab-held';
const brighten = () => { if (hand?.begun) return; if (runs()) setTimeout(brighten, 100); else document.documentElement.removeAttribute(HELD); };
const runs = () => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState !== 'notRunning';

// A fragment's run waits for a run that is under way; a run of the page breaks it off, which only the first value may.
const isFree = widget => !awaited && (widget.fragmentId || hand.sent === hand.start || !runs());

// What the charts are given at a value; null where the page runs.
const picturesOf = async ({ element, fragmentId }, { at, text }) => {
  const question = { fragment: fragmentId, slider: element.id, values: element.options?.length ? [text].flat() : at };
  const answer = await fetch(new URL(`_lab/drag/${session}`, document.baseURI), { method: 'POST', body: JSON.stringify(question) });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
};

const sendQuietly = async (widget, shown) => {
  const mine = hand;
  put(widget, shown, false);
  const pictures = await picturesOf(widget, shown).catch(() => []);
  if (!pictures) await new Promise(done => setTimeout(done, BUSY_MS));
  if (hand !== mine) return; // the run of the release has the last word
  awaited = false;
  hand.unanswered = !pictures?.length;
  hand.isLoud = pictures?.length === 0; // nothing to be drawn so
  if (isDragged()) advance();
  if (pictures) window.__labShow?.(pictures);
};

const advance = () => {
  const handle = handlesOf(hand.slider)[0], widget = widgetOf(handle);
  hand.shown = shownBy(hand.slider);
  const now = String(hand.shown.at);
  if (now !== hand.seen) {
    document.documentElement.setAttribute(HELD, '');
    say('lab-moved', hand.shown.detail);
  }
  hand.seen = now;
  if ((now === hand.sent && !hand.unanswered) || !isFree(widget)) return;
  const isFirst = hand.sent === hand.start && !hand.unanswered;
  hand.isQuiet = Boolean(widget.fragmentId && session && !hand.isLoud && !isFirst);
  Object.assign(hand, { sent: now, unanswered: false });
  awaited = true;
  if (hand.isQuiet) sendQuietly(widget, hand.shown); else put(widget, hand.shown, true);
};

const isDragged = () => hand.slider.isConnected && hand.slider.querySelector('[data-dragging=true]');

// The next value leaves while the browser still draws the last one's picture.
const ended = () => {
  if (!hand?.begun || hand.isQuiet) return;
  awaited = false;
  if (isDragged()) advance();
};

const look = () => {
  if (!hand) return;
  const dragged = isDragged();
  if (!dragged && (hand.begun || !hand.down)) return rest();
  if (dragged) {
    if (!hand.begun) tell(++drags);
    hand.begun = true;
    advance();
  }
  requestAnimationFrame(look);
};

const rest = () => {
  const { slider, begun, sent, start, unanswered, isQuiet } = hand, shown = slider.isConnected ? shownBy(slider) : hand.shown;
  hand = null;
  if (!begun) return;
  const isNews = sent !== start || unanswered || (isQuiet && awaited);
  if (slider.isConnected && String(shown.at) === sent && isNews) acknowledge(handlesOf(slider)[0], shown);
  say('lab-rested', shown.detail);
  setTimeout(brighten, PALE_MS);
  forgetting = setTimeout(forget, FOLLOWED_MS);
};

const hold = event => {
  tell(0);
  const slider = event.target.closest?.(SLIDER), handle = slider && handlesOf(slider)[0];
  const widget = me && handle && !handle.disabled && sliderOf(handle) && widgetOf(handle);
  if (!widget || widget.element.formId || valueOf(handle) === undefined) return;
  const seen = String(shownBy(slider).at);
  hand = { slider, down: true, begun: false, shown: null, start: seen, seen, sent: seen, unanswered: false, isQuiet: false };
  awaited = false;
  requestAnimationFrame(look);
};
addEventListener('pointerdown', hold, true);
addEventListener('keydown', () => { if (!hand) tell(0); }, true);
for (const name of ['pointerup', 'pointercancel']) addEventListener(name, () => { if (hand) hand.down = false; }, true);

export default function ({ parentElement, data }) {
  session = data.session;
  const app = appOf(parentElement);
  me = app ? parentElement : null;
  mendMessages(widgetOf(parentElement)?.widgetMgr);
  app?.addScriptFinishedHandler(ended);
  return () => app?.removeScriptFinishedHandler(ended);
}
