/* What pages do beyond plain HTML: times in the reader's zone, copying, and live jobs. All of them work without it. */

for (const time of document.querySelectorAll('time[datetime]')) {
  time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = label), 2000);
  };
  button.addEventListener('click', () => {
    const source = document.getElementById(button.dataset.copy);
    navigator.clipboard.writeText(source.textContent).then(
      () => say('Copied'),
      () => {
        getSelection().selectAllChildren(source);
        say('Selected: copy it now');
      },
    );
  });
}

for (const region of document.querySelectorAll('[data-live]')) {
  const events = new EventSource(region.dataset.live);
  events.addEventListener('message', ({ data }) => {
    const { id, status, percent } = JSON.parse(data);
    const state = region.querySelector(`[data-job="${CSS.escape(id)}"]`);
    if (state === null) return;
    const label = state.querySelector('.status');
    label.textContent = status;
    label.className = `status ${status}`;
    const bar = state.querySelector('progress');
    if (bar !== null) bar.value = percent;
    const text = state.querySelector('.percent');
    if (text !== null) text.textContent = `${percent} %`;
    if (status === 'queued' || status === 'processing') return;
    bar?.remove();
    text?.remove();
  });
  events.addEventListener('end', () => {
    events.close();
    if (region.dataset.reload === 'true') location.reload();
  });
  // The session has ended, or the service starts anew: the browser tries again by itself.
  addEventListener('pagehide', () => events.close());
}
