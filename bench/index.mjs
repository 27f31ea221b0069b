// Runs every benchmark, or those that are named: `npm run bench`, `npm run bench start-up`.
import { readdirSync } from 'node:fs';

const helpers = ['index.mjs', 'ratio.mjs', 'start-server.mjs'];
const named = process.argv.slice(2);
const files = readdirSync(import.meta.dirname).filter(
  (file) => file.endsWith('.mjs') && !helpers.includes(file),
);
for (const file of files.filter((each) => named.length === 0 || named.includes(each.replace('.mjs', '')))) {
  await import(`./${file}`);
}
