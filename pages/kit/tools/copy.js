// Shows a text and copies it; where the browser gives no clipboard (a page without https, on another machine), as a
// selection does.

const bySelection = (text, place) => {
  const box = Object.assign(document.createElement('textarea'), { value: text, readOnly: true });
  place.append(box); // inside the dialog, which keeps the focus to itself
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  return done;
};

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector('button'), told = parentElement.querySelector('output');
  const copy = async () => {
    let done = false;
    try { await navigator.clipboard.writeText(data.text); done = true; }
    catch { done = bySelection(data.text, parentElement.querySelector('.lab-copy')); }
    button.focus();
    told.textContent = done ? 'Copied.' : 'This browser does not allow copying: select the address above.';
  };
  parentElement.querySelector('code').textContent = data.text;
  button.onclick = copy;
  told.textContent = '';
  return () => { button.onclick = null; };
}
