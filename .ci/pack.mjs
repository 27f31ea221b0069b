// Packs the chunks of a build into few files, because finding, reading and compiling sixty small ones takes most of the
// start-up time. One pack has the light chunks that the same common runs need, another those that none needs, and each
// heavy chunk has a pack of its own. A chunk in a pack is a function that runs when the chunk is first required.
// `main.js` loads packs, with a V8 code cache for each.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Command lines that must start fast: chunks that the same of them need share a pack. */
const commonRuns = [
  ['--version'],
  ['--help'],
  ['pets', '--help'],
  ['pets', 'list', '--base-url', 'http://127.0.0.1:1', '--retries', '0'],
  ['--offline', 'pets', 'list'],
  ['__complete', '--', 'pets', 'list', '--status', ''],
  ['__complete', '--', '--profile', ''],
];

/**
 * Writes the chunks of a build.
 *
 * @param chunks code by file name.
 * @param light names of the chunks that share packs.
 * @param scratch an empty folder.
 */
export async function writeChunks(outdir, { chunks, light, scratch }) {
  const folder = join(scratch, 'dist');
  await mkdir(folder);
  for (const [name, code] of Object.entries(chunks)) await writeFile(join(folder, name), code);
  const loaded = commonRuns.map((argv) => chunksLoadedBy(argv, folder, scratch));
  const needs = (name) => loaded.map((names) => names.includes(name)).join();
  const alone = Object.keys(chunks).filter((name) => !light.includes(name));
  const places = {};
  for (const names of [...grouped(light, needs), ...alone.map((name) => [name])]) {
    const file = await writePack(outdir, functionsOf(names, chunks));
    for (const name of names) places[`./${name}`] = file;
  }
  await writeFile(join(outdir, 'main.js'), loaderWith(places));
}

/** Runs the chunks as they are; `main.js` is the first of them. */
function chunksLoadedBy(argv, folder, scratch) {
  const [hook, list] = [join(scratch, 'hook.cjs'), join(scratch, 'loaded.json')];
  writeFileSync(
    hook,
    `process.on('exit', () =>
      require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache))));`,
  );
  spawnSync(process.execPath, ['-r', hook, join(folder, 'main.js'), ...argv], {
    env: { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: scratch, PETSTORE_STATE_DIR: scratch },
    stdio: 'ignore',
  });
  return JSON.parse(readFileSync(list, 'utf8')).map((path) => basename(path));
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

const loaderWith = (
  places,
) => `const { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');

const modules = new Map();
const packs = new Map();
const places = ${JSON.stringify(places)};
const caches = cacheFolder();

function load(name) {
  const known = modules.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const pack = packs.get(places[name]) ?? open(places[name]);
  pack.functions[name](module.exports, require, module);
  return module.exports;
}

function open(file) {
  const source = readFileSync(join(__dirname, file), 'latin1');
  const cache = readCache(file);
  const script = new Script(source, { filename: file, cachedData: cache?.data });
  const isRejected = script.cachedDataRejected === true;
  const known = isRejected ? '' : (cache?.known ?? '');
  const pack = { script, known, isRejected, functions: script.runInThisContext()(load, __dirname) };
  packs.set(file, pack);
  return pack;
}

// Each user has caches of their own: beside the packs if they own them, else in their cache folder.
function cacheFolder() {
  const user = process.getuid?.();
  if (user === undefined || user === statSync(__dirname).uid) return __dirname;
  // The home of root, as sudo tells it, can be that of somebody else.
  if (user === 0) return undefined;
  const { HOME, XDG_CACHE_HOME } = process.env;
  // A relative path would run what lies in the current folder.
  const parent = [XDG_CACHE_HOME, HOME && join(HOME, '.cache')].find((path) => path && isAbsolute(path));
  return parent && join(parent, 'petstore');
}

function cacheOf(file) {
  return join(caches, file.replace('.js', \`-\${process.versions.v8}-\${process.arch}.cache\`));
}

// A cache is code: it is used only if it belongs to this user, nobody else may write it, and it is whole. V8 itself compares
// no more than the length of the source, and a damaged cache crashes it. So a file holds the data twice: comparing the halves
// takes a tenth of the time of a checksum in JavaScript that has just started. Before them is the length of one, after them
// the names of the chunks that the runs which wrote it had loaded, from this pack and others.
function readCache(file) {
  try {
    const cache = openSync(cacheOf(file));
    const { uid, mode } = fstatSync(cache);
    const content = readFileSync(cache);
    closeSync(cache);
    if ((process.getuid && process.getuid() !== uid) || (mode & 0o022) !== 0) return undefined;
    const end = 4 + content.readUInt32LE(0);
    const data = content.subarray(4, end);
    if (!data.equals(content.subarray(end, 2 * end - 4))) return undefined;
    return { data, known: content.latin1Slice(2 * end - 4) };
  } catch {
    return undefined;
  }
}

// A cache holds the functions that were called before it was written. So the first run leaves caches, and each run that
// loads a chunk for the first time, from whichever pack, leaves better ones: it has called other functions than those before.
function keepCaches() {
  if (!caches) return;
  for (const [file, { script, known, isRejected }] of packs) {
    const names = [...modules.keys()].filter((name) => !known.includes(name));
    if (names.length === 0) continue;
    // V8 rejects a cache that was made under other flags. The runs without flags of their own keep theirs.
    if (isRejected && (process.execArgv.length > 0 || process.env.NODE_OPTIONS)) continue;
    try {
      const data = script.createCachedData();
      const length = Buffer.alloc(4);
      length.writeUInt32LE(data.length);
      const content = Buffer.concat([length, data, data, Buffer.from(known + names.join(''))]);
      const cache = cacheOf(file);
      mkdirSync(caches, { recursive: true, mode: 0o700 });
      writeFileSync(\`\${cache}.\${process.pid}\`, content, { flag: 'wx', mode: 0o600 });
      renameSync(\`\${cache}.\${process.pid}\`, cache);
    } catch {}
  }
}

module.exports = { modules };
process.on('exit', keepCaches);
load('./main.js');
`;
