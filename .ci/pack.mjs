// Packs the chunks of a build into few files, because finding, reading and compiling sixty small ones takes most of the
// start-up time. One pack has the light chunks that the same common runs need, another those that none needs, and each
// heavy chunk has a pack of its own. Each pack has a V8 code cache next to it; `main.js` loads them. A chunk in a pack
// is a function that runs when the chunk is first required.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Command lines that must start fast: the chunks that they load and the functions that they call are prepared. */
const commonRuns = [
  ['--version'],
  ['--help'],
  ['pets', '--help'],
  ['pets', 'list', '--base-url', 'http://127.0.0.1:1', '--retries', '0'],
  ['--offline', 'pets', 'list'],
  ['__complete', '--', 'pets', 'list', '--status', ''],
  ['__complete', '--', '--profile', ''],
];
/** Further command lines, for the caches of the other chunks. */
const otherRuns = [
  ['--offline', 'inventory', 'list'],
  ['--offline', 'orders', 'list', '-o', 'json'],
  [
    'inventory',
    'apply',
    'stock.csv',
    '--blind',
    '--yes',
    '--base-url',
    'http://127.0.0.1:1',
    '--retries',
    '0',
  ],
];

/**
 * Writes the chunks of a build.
 *
 * @param chunks code by file name.
 * @param light names of the chunks that share packs.
 * @param scratch a folder for what the common runs keep.
 */
export async function writeChunks(outdir, { chunks, light, scratch }) {
  const write = async (packs, runs) => {
    const files = await Promise.all(packs.map((names) => writePack(outdir, functionsOf(names, chunks))));
    const places = packs.flatMap((names, at) => names.map((name) => [`./${name}`, files[at]]));
    await writeFile(join(outdir, 'main.js'), loaderWith(Object.fromEntries(places)));
    return { files, loaded: await execute(runs, outdir, scratch) };
  };
  const heavy = Object.keys(chunks).filter((name) => !light.includes(name));
  const alone = heavy.map((name) => [name]);
  const { files, loaded } = await write([light, ...alone], commonRuns);
  for (const each of [files[0], cacheOf(files[0])]) await rm(join(outdir, each));
  const needs = (name) => loaded.map((names) => names.includes(`./${name}`)).join();
  await write([...grouped(light, needs), ...alone], [...commonRuns, ...otherRuns]);
}

/** The functions of a pack; calls for another chunk go to the loader. */
function functionsOf(names, chunks) {
  const code = (name) => chunks[name].replace(/\brequire\((?="\.\/[\w.-]+"\))/g, '__chunk(');
  return names.map((name) => `"./${name}":function(exports,require,module){${code(name)}\n}`).join(',\n');
}

function grouped(names, keyOf) {
  const groups = new Map();
  for (const name of names) groups.set(keyOf(name), [...(groups.get(keyOf(name)) ?? []), name]);
  return [...groups.values()];
}

/** Writes a pack; its name depends on its content, so that a cache always belongs to exactly this pack. */
async function writePack(outdir, functions) {
  const source = `(function(__chunk,__dirname){return{${functions}}})\n`;
  const file = `pack-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`;
  await writeFile(join(outdir, file), source);
  return file;
}

/**
 * Performs several runs in one process, which writes caches of the functions that they called.
 *
 * @returns the names of the chunks that each run loaded.
 */
async function execute(runs, outdir, scratch) {
  const [runner, list] = [join(scratch, 'runner.cjs'), join(scratch, 'chunks.json')];
  await writeFile(runner, runnerOf(runs, resolve(outdir, 'main.js'), list));
  await writeFile(join(scratch, 'stock.csv'), 'petId,quantity\n1,2\n');
  execFileSync(process.execPath, [runner], {
    cwd: scratch,
    env: { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: scratch, PETSTORE_STATE_DIR: scratch },
    stdio: 'ignore',
  });
  return JSON.parse(await readFile(list, 'utf8'));
}

const runnerOf = (runs, main, list) => `const { writeFileSync } = require('node:fs');
const main = ${JSON.stringify(main)};
const runs = ${JSON.stringify(runs)};
const loaded = [];
let loader;
process.exit = () => {
  if (loader) loaded.push([...loader.modules.keys()]);
  if (runs.length === 0) end();
  process.argv = [process.execPath, 'petstore', ...runs.shift()];
  loader?.modules.clear();
  if (loader) loader.load('./main.js');
  else loader = require(main);
};
process.exit();

function end() {
  writeFileSync(${JSON.stringify(list)}, JSON.stringify(loaded));
  loader.keepCaches();
  process.reallyExit(0);
}
`;

/** The name of a pack's code cache for this V8. */
function cacheOf(file) {
  return file.replace('.js', `-${process.versions.v8}-${process.arch}.cache`);
}

const loaderWith = (
  places,
) => `const { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const __chunk = load;
const modules = new Map();
const packs = new Map();
const places = ${JSON.stringify(places)};
const hasFlags = process.execArgv.length > 0 || Boolean(process.env.NODE_OPTIONS);

function load(name) {
  const known = modules.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const pack = packs.get(places[name]) ?? open(places[name]);
  pack.hasMore ||= !pack.cached.has(name);
  pack.cached.add(name);
  pack.functions[name](module.exports, require, module);
  return module.exports;
}

function open(file) {
  const source = readFileSync(join(__dirname, file), 'latin1');
  const cache = readCache(file);
  const script = new Script(source, { filename: file, cachedData: cache?.data });
  const isRejected = script.cachedDataRejected === true;
  const cached = new Set(isRejected ? [] : cache?.names);
  const pack = { script, cached, isRejected, functions: script.runInThisContext()(load, __dirname) };
  packs.set(file, pack);
  return pack;
}

// A cache is code: it is taken only if it belongs to the owner of its pack, nobody else may write it who may not write the
// pack, and it is whole. V8 itself compares no more than the length of the source, and a damaged cache crashes it. So a file
// holds the data twice: comparing the halves takes a tenth of the time of a checksum in JavaScript that has just started.
// Before them is their length, after them the names of the chunks whose functions they hold.
function readCache(file) {
  try {
    const cache = openSync(join(__dirname, cacheOf(file)));
    const { uid, mode } = fstatSync(cache);
    const pack = statSync(join(__dirname, file));
    if (uid !== pack.uid || (mode & ~pack.mode & 0o022) !== 0) return undefined;
    const content = readFileSync(cache);
    closeSync(cache);
    const end = 4 + content.readUInt32LE(0);
    const data = content.subarray(4, end);
    if (!data.equals(content.subarray(end, 2 * end - 4))) return undefined;
    return { data, names: content.latin1Slice(2 * end - 4).split(' ') };
  } catch {
    return undefined;
  }
}

// A cache holds the functions that were called before it was written. So the first run of an installation leaves caches, and
// each run that needs a further chunk leaves better ones, if it is the owner of the packs.
function keepCaches() {
  for (const [file, { script, cached, isRejected, hasMore }] of packs) {
    // V8 rejects a cache that was made under other flags. The runs without flags of their own keep theirs.
    if (!hasMore || (isRejected && hasFlags)) continue;
    try {
      const { uid, mode } = statSync(join(__dirname, file));
      if (process.getuid && process.getuid() !== uid) continue;
      const cache = join(__dirname, cacheOf(file));
      const data = script.createCachedData();
      const length = Buffer.alloc(4);
      length.writeUInt32LE(data.length);
      const content = Buffer.concat([length, data, data, Buffer.from([...cached].join(' '))]);
      writeFileSync(\`\${cache}.\${process.pid}\`, content, { flag: 'wx', mode: mode & 0o644 });
      renameSync(\`\${cache}.\${process.pid}\`, cache);
    } catch {}
  }
}

${cacheOf}

module.exports = { load, modules, keepCaches };
process.on('exit', keepCaches);
load('./main.js');
`;
