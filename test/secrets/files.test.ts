import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const token = 's3cret/W0rd+of=12';
const escaped = [...token].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const encoded = Buffer.from(`Bearer ${token}`).toString('base64');
const inBase64 = Buffer.from(token).toString('base64').slice(3, 20);

test('a token that a service repeats in every spelling is in no journal, rejects file, report or output for people', async () => {
  await using server = await recordingServer({}, ({ method, path }) => {
    const headers = { 'x-request-id': token, 'content-type': 'application/json' };
    if (method !== 'GET')
      return {
        status: 409,
        headers,
        body: `{"code":"c","message":"${escaped} ${token} ${encoded}","status":409}`,
      };
    const item = { petId: 1, quantity: 5, status: 'sold' };
    if (path.startsWith('/store/inventory/')) return { headers, body: item };
    if (path.startsWith('/store/inventory')) return { headers, body: [item] };
    return { headers, body: `[{"id":"${escaped}","name":"${encodeURIComponent(token).toLowerCase()}"}]` };
  });
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'stock.csv'), 'petId,quantity\n1,7\n');
  const env = {
    PETSTORE_TOKEN: token,
    PETSTORE_BASE_URL: server.url,
    PETSTORE_STATE_DIR: join(folder, 'state'),
  };
  const run = (line: string) => runCli([...line.split(' '), '--retries', '0'], { env, cwd: folder });
  const applied = await run('inventory apply stock.csv --yes');
  expect(applied.code).toBe(1);
  const outputs = [applied.stdout, applied.stderr];
  const reports = ['junit', 'json', 'html'].map(
    (format) => `--report ${format}=${join(folder, `report.${format}`)}`,
  );
  const smoke = await run(`smoke --write --yes ${reports.join(' ')}`);
  outputs.push(smoke.stdout, smoke.stderr);
  for (const line of ['inventory runs r1', 'doctor -vv', 'inventory set 1 9 -o json -vv'])
    outputs.push((await run(line)).stderr);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const texts = files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
  expect(files.length).toBeGreaterThan(5);
  expect(outputs.join('')).toContain('***');
  for (const text of [...outputs, ...texts]) {
    expect(text.toLowerCase()).not.toMatch(/s3cret|w0rd|of=12|of%3d12/);
    expect(text).not.toContain(inBase64);
  }
});
