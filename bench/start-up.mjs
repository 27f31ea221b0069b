// The start-up of the whole process against `node -e 0`, and the time of other programs for scale.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, printHeader, timeOf } from './ratio.mjs';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const base = {
  ...inherited,
  PETSTORE_CONFIG_DIR: join(folder, 'config'),
  PETSTORE_STATE_DIR: join(folder, 'state'),
};

// This process answers the requests, so that the program is timed and not the start of a server.
const pets = JSON.stringify(
  Array.from({ length: 25 }, (_, at) => ({
    id: at + 1,
    name: `Pet ${at + 1}`,
    categoryId: 1,
    status: 'available',
  })),
);
const stockList = JSON.stringify(
  Array.from({ length: 10 }, (_, at) => ({ petId: at + 1, quantity: 5, status: 'available' })),
);
const server = createServer(({ url }, response) => {
  response.setHeader('content-type', 'application/json');
  if (url.startsWith('/pets')) response.end(pets);
  else if (/^\/store\/inventory(\?|$)/.test(url)) response.end(stockList);
  else if (url.startsWith('/store'))
    response.end(`{"petId":${url.split('/').at(-1)},"quantity":5,"status":"available"}`);
  else response.end('[{"id":1,"name":"Dogs"}]');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const stock = join(folder, 'stock.csv');
writeFileSync(stock, `petId,quantity\n${Array.from({ length: 10 }, (_, at) => `${at + 1},5\n`).join('')}`);

const petstore =
  (words, env = {}, expected = 0) =>
  (build = '.') =>
    timeOf(process.execPath, [join(build, 'bin/petstore.js'), ...words], {
      env: { ...base, ...env },
      expected,
    });
const empty = () => timeOf(process.execPath, ['-e', '0'], { env: base });

try {
  await petstore(['profile', 'create', 'bench', '--base-url', url])();
  await petstore(['--offline', 'pets', 'list'])();
  printHeader(`Start-up, Node ${process.version}`, 'node -e 0', 'petstore');
  const help = ['<= 1.2', '<= 0.65'];
  const completion = ['<= 1.3', '<= 0.65'];
  const rows = [
    ['`petstore --version`', petstore(['--version']), '<= 1.1', '<= 1.0'],
    ['`petstore --help`', petstore(['--help']), ...help],
    ['`petstore pets list --help`', petstore(['pets', 'list', '--help']), ...help],
    ['`petstore help formats`', petstore(['help', 'formats']), ...help],
    ['`petstore pets lsit`, an error', petstore(['pets', 'lsit'], {}, 2), ...help],
    ['completion of a command', petstore(['__complete', '--', '']), ...completion],
    ['completion of a flag', petstore(['__complete', '--', 'pets', 'list', '--']), ...completion],
    ['completion of a format', petstore(['__complete', '--', 'pets', 'list', '-o', '']), ...completion],
    ['completion of a profile', petstore(['__complete', '--', '--profile', ''])],
    ['completion of a pet, offline', petstore(['__complete', '--', '--offline', 'pets', 'get', ''])],
    [
      '`petstore pets list`, http, URL by environment',
      petstore(['pets', 'list'], { PETSTORE_BASE_URL: url }),
      '<= 1.9',
      '<= 0.83',
    ],
    [
      '`petstore pets list`, http, URL in a profile',
      petstore(['--profile', 'bench', 'pets', 'list']),
      '<= 2.1',
      '<= 0.83',
    ],
    ['`petstore --offline pets list`', petstore(['--offline', 'pets', 'list']), '<= 1.8', '<= 0.8'],
    [
      '`petstore inventory apply`, http, 10 rows, none differs',
      petstore(['inventory', 'apply', stock, '--yes'], { PETSTORE_BASE_URL: url }),
    ],
  ];
  for (const [name, figure, target, targetOfBefore] of rows)
    await compare({ name, baseline: empty, figure, target, targetOfBefore, pairs: 25 });
  for (const [command, ...words] of [
    ['gh', '--version'],
    ['npm', '--version'],
    ['http', '--version'],
    ['curl', '-s', url],
  ]) {
    if (spawnSync(command, ['--version']).error) continue;
    await compare({
      name: `for scale: \`${command}\``,
      baseline: empty,
      figure: () => timeOf(command, words, { env: base }),
      pairs: 5,
    });
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
