// Packs the light chunks of a build into few files, for finding, reading and compiling sixty small ones takes most of a
// start: a pack has the chunks that the same common runs need, `rest.js` those that none needs, each with a V8 code cache
// beside it; `main.js` loads them. A chunk in a pack is a function, run when it is first required.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';

/** Command lines that shall start fast: the chunks that they load, and the functions that they call, are made ready. */
const commonRuns = [
  ['--version'],
  ['--help'],
  ['pets', '--help'],
  ['pets', 'list', '--base-url', 'http://127.0.0.1:1', '--retries', '0'],
  ['--offline', 'pets', 'list'],
  ['completion', 'values', 'profiles'],
];
const rest = 'rest.js';

/**
 * Writes the chunks of a build: the light ones into packs, each other one as a file of its own.
 *
 * @param chunks code by file name.
 * @param light names of the chunks that go into packs.
 * @param scratch a folder for what the common runs keep.
 */
export async function writeChunks(outdir, { chunks, light, scratch }) {
  const packed = new Set(light);
  const code = (name, loader) => redirect(chunks[name], packed, loader);
  for (const name of Object.keys(chunks).filter((each) => !packed.has(each))) {
    await writeFile(join(outdir, name), code(name, 'require("./main.js").load'));
  }
  const functionsOf = (names) =>
    names
      .map((name) => `"./${name}":function(exports,require,module){${code(name, '__chunk')}\n}`)
      .join(',\n');
  const write = async (packs) => {
    const places = [...packs].flatMap(([file, names]) => names.map((name) => [`./${name}`, file]));
    await writeFile(join(outdir, 'main.js'), loaderWith(Object.fromEntries(places)));
    for (const [file, names] of packs) await writePack(outdir, file, functionsOf(names));
    return await runCommon(outdir, scratch);
  };
  const chunksOfRuns = await write(new Map([[rest, light]]));
  await write(grouped(light, (name) => packOf(chunksOfRuns.map((loaded) => loaded.includes(`./${name}`)))));
}

/** Calls for a chunk in a pack go to the loader. */
function redirect(code, packed, loader) {
  return code.replace(/\brequire\("\.\/([\w.-]+)"\)/g, (call, name) =>
    packed.has(name) ? `${loader}("./${name}")` : call,
  );
}

/** The pack of the chunks that the same runs need. */
function packOf(isNeeded) {
  const runs = isNeeded.flatMap((needed, at) => (needed ? [at] : []));
  return runs.length === 0 ? rest : `pack-${runs.join('')}.js`;
}

function grouped(names, keyOf) {
  const groups = new Map();
  for (const name of names) groups.set(keyOf(name), [...(groups.get(keyOf(name)) ?? []), name]);
  return groups;
}

/** Writes a pack and a cache of its outermost function, for the Node that builds. */
async function writePack(outdir, file, functions) {
  const source = `module.exports=(__chunk)=>({${functions}});\n`;
  const script = new Script(wrap(source), { filename: file });
  // What has been called is in the cache: so the functions have been found in the text, if not compiled.
  const module = {};
  script.runInThisContext()(module, outdir);
  module.exports(() => {});
  await writeFile(join(outdir, file), source);
  await writeFile(join(outdir, cacheOf(file)), script.createCachedData());
}

/**
 * Does the common runs one after the other in one process, and renews the caches with the functions that they called.
 *
 * @returns the names of the chunks that each run loaded.
 */
async function runCommon(outdir, scratch) {
  const [runner, list] = [join(scratch, 'runner.cjs'), join(scratch, 'chunks.json')];
  await writeFile(runner, runnerOf(resolve(outdir, 'main.js'), list));
  execFileSync(process.execPath, [runner], {
    env: { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: scratch, PETSTORE_STATE_DIR: scratch },
    stdio: 'ignore',
  });
  return JSON.parse(await readFile(list, 'utf8'));
}

const runnerOf = (main, list) => `const { writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const main = ${JSON.stringify(main)};
const runs = ${JSON.stringify(commonRuns)};
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
  for (const [file, script] of loader.scripts)
    writeFileSync(join(dirname(main), loader.cacheOf(file)), script.createCachedData());
  process.reallyExit(0);
}
`;

/** The name of a pack's code cache; another V8 finds none, and compiles. */
function cacheOf(file) {
  return file.replace('.js', `-${process.versions.v8}-${process.arch}.cache`);
}

function wrap(body) {
  return `(function(module,__dirname){${body}\n})`;
}

const loaderWith = (places) => `const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const __chunk = load;
const modules = new Map();
const packs = new Map();
const scripts = new Map();
const places = ${JSON.stringify(places)};

function load(name) {
  const known = modules.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  functionsOf(places[name])[name](module.exports, require, module);
  return module.exports;
}

function functionsOf(file) {
  if (!packs.has(file)) packs.set(file, open(file)(load));
  return packs.get(file);
}

function open(file) {
  const path = join(__dirname, file);
  let cachedData;
  try {
    cachedData = readFileSync(join(__dirname, cacheOf(file)));
  } catch {
    return require(path);
  }
  const { Script } = require('node:vm');
  const script = new Script(wrap(readFileSync(path, 'latin1')), { filename: file, cachedData });
  scripts.set(file, script);
  const module = {};
  script.runInThisContext()(module, __dirname);
  return module.exports;
}

${cacheOf}

${wrap}

module.exports = { load, modules, scripts, cacheOf };
load('./main.js');
`;
