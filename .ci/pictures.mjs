// Makes the pictures of the README from real runs. Each command runs on a new terminal (`script` of util-linux), and its output
// becomes an SVG. Chromium takes the picture of the documentation page. Run it with `npm run pictures` after a build.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const columns = 84;
const cell = { width: 8.5, height: 18 };
const padding = 16;
const ink = '#e6edf3';
const colors = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff', 36: '#76e3ea', 90: '#8b949e' };
/** The sides of its cell that each character of a frame reaches: left, right, up, down. */
const arms = new Map(
  '─lr │ud ┌rd ┐ld └ru ┘lu ├rud ┤lud ┬lrd ┴lru ┼lrud'.split(' ').map((each) => [each[0], each.slice(1)]),
);

const folder = mkdtempSync(join(tmpdir(), 'petstore-pictures-'));
writeFileSync(
  join(folder, 'petstore'),
  `#!/bin/sh\nexec '${process.execPath}' '${process.cwd()}/bin/petstore.js' "$@"\n`,
  { mode: 0o755 },
);
writeFileSync(join(folder, 'counted.csv'), 'petId,quantity\n1,12\n3,40\n6,4\n7,21\n12,36\n');

/** The command of each picture, and the keys to type when it asks. */
const pictures = {
  overview: { command: 'petstore --offline overview' },
  apply: { command: 'petstore --offline inventory apply counted.csv', typed: 'y\\n' },
  smoke: { command: 'petstore serve --port 0 -- petstore smoke' },
};

try {
  mkdirSync('.ci/pictures', { recursive: true });
  for (const [name, { command, typed = '' }] of Object.entries(pictures)) {
    const screen = `$ ${command}\r\n${outputOf(command, typed)}`;
    writeFileSync(join('.ci/pictures', `${name}.svg`), toSvg(screen, command));
  }
  writeFileSync('.ci/pictures/docs.webp', await captureDocs());
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Captures the documentation page of `serve` in a browser, with the response to a request. */
async function captureDocs() {
  const server = spawn(process.execPath, ['bin/petstore.js', 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(server.stdout, 'data');
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 1070 } });
    await page.goto(`${String(line).trim()}/docs#getPet`);
    await page.locator('#getPet [type=submit]').click();
    await page.locator('#getPet .answer pre.body').waitFor();
    await page.evaluate("document.querySelector('#getPet').scrollIntoView()");
    const devtools = await page.context().newCDPSession(page);
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
    return Buffer.from(data, 'base64');
  } finally {
    await browser.close();
    server.kill();
  }
}

/** Runs a command on a terminal, and returns its output with escape sequences. */
function outputOf(command, typed) {
  // The keys come late, because before the question the terminal would echo them.
  const person = `sleep 2; printf '${typed}'; sleep 1`;
  const terminal = 'script -qec "stty cols $COLUMNS rows 50; $COMMAND" /dev/null';
  return spawnSync('sh', ['-c', `(${person}) | ${terminal}`], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      COMMAND: command,
      COLUMNS: String(columns),
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      TERM: 'xterm-256color',
      PETSTORE_STATE_DIR: join(folder, 'state'),
      PETSTORE_CONFIG_DIR: join(folder, 'config'),
    },
  }).stdout;
}

function toSvg(screen, title) {
  const lines = screen
    .replace(/\r\n$/, '')
    .split(/\r?\n/)
    .map((line) => line.replace(/^.*(\r|\x1b\[[02]?[JK])(?=.)/s, ''));
  const width = columns * cell.width + 2 * padding;
  const height = lines.length * cell.height + 2 * padding;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${ink}">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${lines.map(toShapes).join('')}</svg>
`;
}

/** Draws a line of a terminal as SVG: each character at its column, and frames as lines. */
function toShapes(line, row) {
  let column = 0;
  let style = new Set();
  let shapes = '';
  for (const part of line.split(/(\x1b\[[\d;?]*[a-zA-Z])/)) {
    if (part.startsWith('\x1b[')) {
      if (part.endsWith('m')) style = restyle(style, part.slice(2, -1).split(';').map(Number));
    } else if (part !== '') {
      const position = { column, row, style };
      shapes += toText(part, position) + toFrame(part, position) + toBars(part, position);
      column += part.length;
    }
  }
  return shapes;
}

/** Places each character separately, because fonts, and their bold styles, differ in width. */
function toText(part, { column, row, style }) {
  const y = padding + (row + 0.75) * cell.height;
  const words = [...part.replace(/[─-┼█]/g, ' ').matchAll(/\S+/g)];
  return words
    .map(({ 0: word, index }) => {
      const xs = Array.from(word, (_, at) => padding + (column + index + at) * cell.width);
      return `<text x="${xs.join(' ')}" y="${y}"${attributes(style)}>${escapeXml(word)}</text>\n`;
    })
    .join('');
}

function toFrame(part, { column, row }) {
  const { width, height } = cell;
  const lines = Array.from(part, (character, at) => {
    const middle = `M${padding + (column + at + 0.5) * width} ${padding + (row + 0.5) * height}`;
    const ends = { l: `h${-width / 2}`, r: `h${width / 2}`, u: `v${-height / 2}`, d: `v${height / 2}` };
    return Array.from(arms.get(character) ?? '', (arm) => middle + ends[arm]).join('');
  });
  const path = lines.join('');
  return path === '' ? '' : `<path d="${path}" stroke="${ink}"/>\n`;
}

/** Draws each bar in one piece, because separate block characters would have gaps. */
function toBars(part, { column, row, style }) {
  const { width, height } = cell;
  return [...part.matchAll(/█+/g)]
    .map(({ 0: bar, index }) => {
      const x = padding + (column + index) * width;
      const y = padding + row * height + 3;
      return `<rect x="${x}" y="${y}" width="${bar.length * width}" height="${height - 6}"${attributes(style)}/>\n`;
    })
    .join('');
}

function restyle(style, codes) {
  const next = new Set(style);
  for (const code of codes) {
    if (code === 0) next.clear();
    else if (code === 22) for (const each of [1, 2]) next.delete(each);
    else if (code === 39) for (const each of Object.keys(colors)) next.delete(Number(each));
    else next.add(code);
  }
  return next;
}

function attributes(style) {
  const color = Object.keys(colors).find((code) => style.has(Number(code)));
  return [
    color ? ` fill="${colors[color]}"` : '',
    style.has(1) ? ' font-weight="bold"' : '',
    style.has(2) ? ' fill-opacity="0.6"' : '',
  ].join('');
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
