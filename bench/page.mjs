// The reading of one list page of 32 MB, measured over the whole process with start and printing.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { compare, printHeader, timeOf } from './ratio.mjs';

const megabytes = 32;
/** A number that a double cannot hold. */
const long = '12345678901234567890';

/** The content of the records, beside an id. */
const fillings = {
  'few fields': '"quantity":1,"status":"available"',
  'small numbers': `"quantity":1,"status":"sold","list":[${'0,'.repeat(40)}1e10]`,
  'nested arrays': `"quantity":1,"status":"sold","list":[${'[[]],'.repeat(40)}0]`,
  'long numbers': `"quantity":1,"status":"sold","list":[${`${long},`.repeat(10)}0]`,
};

/** Makes a list page of nearly the longest size, with a long number at its end. */
function pageOf(filling) {
  const length = Math.floor((megabytes * 1e6) / (filling.length + 20));
  const records = Array.from({ length }, (_, at) => `{"petId":${at + 1},${filling}}`);
  return `[${records.join(',')},{"petId":${length + 1},"quantity":1,"status":"sold","n":${long}}]`;
}

let page = '';
const server = createServer((_, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(page),
);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;
const env = { ...process.env, PETSTORE_BASE_URL: url };
const bare = `require('http').get('${url}', (answer) => {
  const chunks = [];
  answer.on('data', (chunk) => chunks.push(chunk)).on('end', () => JSON.parse(Buffer.concat(chunks)));
})`;
const perSecond = async (words) => (megabytes * 1000) / (await timeOf(process.execPath, words, { env }));

printHeader(
  'A list page of 32 MB, whole process',
  '`JSON.parse` in a bare script',
  '`inventory list -o ids`',
);
for (const [name, filling] of Object.entries(fillings)) {
  page = pageOf(filling);
  await compare({
    name,
    baseline: () => perSecond(['-e', bare]),
    figure: (build) => perSecond([join(build, 'bin/petstore.js'), 'inventory', 'list', '-o', 'ids']),
    pairs: 5,
    unit: 'MB/s',
    target: '>= 25 MB/s',
  });
}
server.close();
server.closeAllConnections();
