// Makes the forms of the page send requests. The script shows the text of a response as text.

/** @param {HTMLFormElement} form */
function requestOf(form) {
  const query = new URLSearchParams();
  let path = form.dataset.path ?? '';
  for (const field of form.querySelectorAll('[data-in]')) {
    const value = field.value.trim();
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (value !== '') query.append(field.name, value);
  }
  const search = query.toString();
  // Relative, because a gateway may serve the page below a path.
  const target = `.${path}`;
  const body = form.querySelector('[name=body]')?.value;
  return {
    url: search === '' ? target : `${target}?${search}`,
    method: form.dataset.method,
    body,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
  };
}

/**
 * @param {string} name
 * @param {string} text
 * @param {string} [className]
 */
function element(name, text, className) {
  const node = document.createElement(name);
  node.textContent = text;
  if (className) node.className = className;
  return node;
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const answer = form.querySelector('.answer');
  const button = form.querySelector('[type=submit]');
  const { url, ...request } = requestOf(form);
  if (request.method === 'DELETE' && !confirm(`Send DELETE ${url}?`)) return;
  const started = performance.now();
  button.disabled = true;
  answer.replaceChildren(element('p', 'Sending …'));
  try {
    const response = await fetch(url, { ...request, cache: 'no-store' });
    const body = await response.text();
    const elapsedMs = Math.round(performance.now() - started);
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    const status = element('p', `${response.status} ${response.statusText}`, 'status');
    status.append(element('span', ` in ${elapsedMs} ms`));
    const { id } = form.closest('article');
    const content = body === '' ? element('p', 'No body.') : block('Body', id, body);
    answer.replaceChildren(status, content, block('Headers', id, headers));
  } catch {
    answer.replaceChildren(element('p', 'The server did not answer: it may have been stopped.', 'status'));
  } finally {
    button.disabled = false;
  }
}

/**
 * @param {string} title
 * @param {string} id of the operation
 * @param {string} text
 */
function block(title, id, text) {
  const container = document.createElement('div');
  const pre = element('pre', text, title.toLowerCase());
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', `${title} of ${id}`);
  container.append(element('h5', title), pre);
  return container;
}

for (const form of document.querySelectorAll('form.try')) {
  form.querySelector('[type=submit]').disabled = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}
