// A click whose run has not come to its button yet would be lost with a run that is asked for meanwhile: one waits until
// it is answered. The state of the app says that something runs only when the server has answered.
const ANSWERED_MS = 1000;
let pressed = -ANSWERED_MS;
addEventListener('click', ({ target }) => { if (target.closest?.('button')) pressed = performance.now(); }, true);
const busy = () => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'running'
  || performance.now() - pressed < ANSWERED_MS;
