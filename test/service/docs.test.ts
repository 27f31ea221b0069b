import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { operationIds, operations } from '../../src/api/operations.ts';
import { renderPage } from '../../src/server/docs/page.ts';
import { runCli } from '../helpers/run-cli.ts';
import { serve } from '../helpers/serving.ts';
import { startCli } from '../helpers/spawn-cli.ts';
import { pathOf, testWith } from '../helpers/tools.ts';

// The built program: only there the style is what a browser gets.
const child = startCli(['serve', '--port', '0']);
const serving = { url: '' };
beforeAll(async () => {
  const [line] = await once(child.stdout ?? child, 'data');
  serving.url = String(line).trim();
});
afterAll(async () => {
  child.kill('SIGTERM');
  await once(child, 'exit');
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(serving.url + path, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** What a shell prints for the command lines of a page that begin with a word, which is a function there. */
async function runLines(url: string, word: string, body: string): Promise<string> {
  const page = await (await fetch(`${url}/docs`)).text();
  const lines = [...page.matchAll(/<pre[^>]*><code>([^<]*)<\/code><\/pre>/g)]
    .map(([, line = '']) => line.replace(/&(\w+);/g, (_, name) => characters[name] ?? ''))
    .filter((line) => line.startsWith(`${word} `));
  expect(lines).toHaveLength(operationIds.length);
  const script = [`${word}() { ${body} }`, ...lines.map((line) => `{ ${line}; } || exit 1`)].join('\n');
  return (await promisify(execFile)('sh', ['-c', script])).stdout;
}

test('/ links to the page and to the description', async () => {
  const { status, headers } = await get('/');
  const link = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"';
  expect([status, headers.get('link')]).toEqual([404, link]);
});

test('the page, its script and its style have a policy that allows only their own server', async () => {
  for (const [path, type] of [
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs.js', 'text/javascript; charset=utf-8'],
    ['/docs.css', 'text/css; charset=utf-8'],
  ] as const) {
    const { status, headers } = await get(path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, type]);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/,
    );
  }
  expect((await fetch(`${serving.url}/docs`, { method: 'POST' })).status).toBe(405);
});

test('the page has an article for every operation, with its method, path and summary', async () => {
  const { body } = await get('/docs');
  const articles = [...body.matchAll(/<article id="(\w+)".*?<\/article>/gs)];
  const byId = new Map(articles.map(([text, id]) => [id, text]));
  for (const id of operationIds) {
    const { method, path, summary } = operations[id];
    expect(byId.get(id)).toContain(`<code>${path}</code>`);
    expect(byId.get(id)).toContain(`>${method}</span>`);
    expect(byId.get(id)).toContain(`>${summary}</a>`);
    expect(byId.get(id)?.includes('<form')).toBe(id !== 'listOrders');
  }
  expect(byId.get('listOrders')).toContain('The service asks that this operation is not tried');
  expect(byId.get('getPet')).toContain('>deprecated, ends on 2027-12-31</span>');
  expect(byId.get('updateOrder')).toContain('>beta</span>');
  expect(byId.get('deleteInventory')).toContain('>experimental</span>');
});

test.each(['operation', 'path', 'document'] as const)(
  'an operation has no form if the %s has x-hideTryItPanel',
  (place) => {
    const document = toOpenApi();
    const pathItem = document.paths['/pets/{petId}'];
    const holder = { operation: pathItem?.get, path: pathItem, document }[place];
    Object.assign(holder ?? {}, { 'x-hideTryItPanel': true });
    const page = renderPage(document, { baseUrl: 'http://localhost:4010', readOnly: false });
    const forms = [...page.matchAll(/<form[^>]*aria-label="Try (\w+)"/g)].map(([, id]) => id);
    const all = operationIds.filter((id) => id !== 'listOrders');
    const hidden = { operation: ['getPet'], path: ['getPet', 'updatePet', 'deletePet'], document: all }[
      place
    ];
    expect(forms.sort()).toEqual(all.filter((id) => !hidden.includes(id)).sort());
  },
);

test('a description with markup in it is shown as text', () => {
  const document = toOpenApi();
  document.info.title = '<script>alert("1")</script>';
  const page = renderPage(document, { baseUrl: `http://localhost:4010/'"><img>`, readOnly: false });
  expect(page).not.toMatch(/<script>|<img>/);
  expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)');
});

test('--read-only leaves out the forms of writes', async () => {
  await using other = await serve('--read-only');
  const page = await (await fetch(`${other.url}/docs`)).text();
  const forms = [...page.matchAll(/<form[^>]*data-method="(\w+)"/g)].map(([, method]) => method);
  expect([...new Set(forms)]).toEqual(['GET']);
  expect(page).toContain('This server is read-only');
});

/** A seeded shop without the entry that the example of createInventory makes. */
async function serveExamples() {
  const shop = await serve();
  await fetch(`${shop.url}/store/inventory/${operations.deleteInventory.example?.id}`, { method: 'DELETE' });
  return shop;
}

test('each petstore line of the page runs as it stands', async () => {
  await using other = await serveExamples();
  const words = await runLines(other.url, 'petstore', String.raw`printf '%s\0' "$@"; printf '\n';`);
  for (const line of words.trim().split('\n')) {
    expect(line).not.toContain('request');
    expect(await runCli(line.split('\0').slice(0, -1))).toMatchObject({ code: 0 });
  }
});

testWith('curl')('each curl line of the page succeeds as it stands', async () => {
  await using other = await serveExamples();
  await runLines(other.url, 'curl', 'command curl --silent --show-error --fail "$@";');
});

const browserPath = process.env.PETSTORE_TEST_BROWSER ?? pathOf('chromium');

describe.skipIf(browserPath === undefined)('in a browser (needs chromium)', () => {
  let browser: Browser;
  let page: Page;
  let troubles: string[];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('console', (message) => troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(serving.url)) troubles.push(request.url());
    });
    await page.goto(`${serving.url}/docs`);
  });
  afterAll(() => browser.close());
  beforeEach(() => {
    troubles = [];
  });

  /** Fills in a form, sends it, and returns what it shows. */
  async function tryOut(id: string, values: Record<string, string> = {}) {
    for (const [name, value] of Object.entries(values))
      await page.locator(`#${id} form [name="${name}"]`).fill(value);
    const answer = page.locator(`#${id} .answer`);
    await answer.evaluate((element) => element.replaceChildren());
    await page.locator(`#${id} form button[type=submit]`).click();
    const status = await answer.locator('.status').innerText();
    const [body] = await answer.locator('pre.body').allInnerTexts();
    return { status, body };
  }

  test('shows the responses of GET and POST and an error, with nothing in the console', async () => {
    const got = await tryOut('getPet', { petId: '3' });
    expect(got.status).toMatch(/^200 OK in \d+ ms$/);
    expect(got.body).toBe('{"id":3,"name":"Luna","categoryId":2,"status":"available"}');
    expect(await page.locator('#getPet pre.headers').innerText()).toContain(
      'sunset: Fri, 31 Dec 2027 00:00:00 GMT',
    );
    const created = await tryOut('createPet', { body: '{"name":"Rex","categoryId":1}' });
    expect(created.status).toMatch(/^201 Created/);
    const list = await tryOut('listPets', { limit: '1' });
    expect(list.body).toMatch(/^\[\{"id":1,/);
    expect((await tryOut('listPets', { limit: '1', status: 'sold' })).body).toContain('"sold"');
    expect(troubles).toEqual([]);
    const failed = await tryOut('getPet', { petId: '999' });
    expect(failed.status).toMatch(/^404 Not Found/);
    expect(failed.body).toContain('"message":"pet 999 does not exist"');
    // The browser itself reports the 404.
    expect(troubles.filter((trouble) => !trouble.includes('404'))).toEqual([]);
  });

  test('keeps every digit, and shows hostile names as text', async () => {
    const name = '<img src=x onerror=alert(1)></pre><script>alert(2)</script>';
    const written = '{"id":9223372036854775807,"quantity":-0.10}';
    const answer = { contentType: 'application/json', body: written };
    await page.route('**/store/orders/1', (route) => route.fulfill(answer));
    const got = await tryOut('getOrder', { orderId: '1' });
    expect(got.body).toBe(written);
    await tryOut('createCategory', { body: JSON.stringify({ name }) });
    expect(await page.locator('#createCategory pre.body').innerText()).toContain(name);
    expect(await page.locator('.answer img, .answer script').count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  test('asks before sending a DELETE', async () => {
    page.once('dialog', (dialog) => dialog.dismiss());
    await page.locator('#deletePet form button[type=submit]').click();
    expect(await page.locator('#deletePet .answer').innerText()).toBe('');
    page.once('dialog', (dialog) => dialog.accept());
    expect((await tryOut('deletePet', { petId: '24' })).status).toMatch(/^204 No Content/);
    expect(await page.locator('#deletePet .answer').innerText()).toContain('No body.');
  });

  test('can be used with the keyboard alone', async () => {
    await page.goto(`${serving.url}/docs`);
    await page.locator('#getInventory-petId').focus();
    await page.keyboard.press('Enter');
    await page.locator('#getInventory .answer pre.body').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Send GET');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('class')).toBe('body');
    const unreachable = await page.evaluate(
      `[...document.querySelectorAll('a, button, input, select, textarea')]
        .filter((each) => each.getClientRects().length > 0 && each.tabIndex < 0)
        .map((each) => each.outerHTML)`,
    );
    expect(unreachable).toEqual([]);
  });

  test.each([
    ['light', 360],
    ['light', 1440],
    ['dark', 1440],
  ] as const)(
    'in %s at %i px, axe finds nothing serious and nothing scrolls sideways',
    async (colorScheme, width) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await tryOut('listPets');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.evaluate(
        readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
      );
      const violations = await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then((found) =>
      found.violations.map(({ id, impact, nodes }) => [impact, id, nodes[0].html].join(' ')))`);
      expect(violations).toEqual([]);
    },
  );

  test('can be read without JavaScript', async () => {
    const reader = await browser.newPage();
    const session = await reader.context().newCDPSession(reader);
    await session.send('Emulation.setScriptExecutionDisabled', { value: true });
    await reader.goto(`${serving.url}/docs`);
    expect(await reader.locator('article#getPet').innerText()).toContain('ends on 2027-12-31');
    expect(await reader.locator('noscript p').isVisible()).toBe(true);
    expect(await reader.locator('#getPet form button').isDisabled()).toBe(true);
  });
});
