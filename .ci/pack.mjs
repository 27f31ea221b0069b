// Packs the light chunks of a build into three files, for finding, reading and compiling forty small ones takes most of a
// start: `main.js` has what every run needs, and the loader of the others; `common.js` what common commands need besides;
// `rest.js` all else. The last two have a V8 code cache beside them. A chunk in a pack is a function, run when it is first
// required.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';

/** What is common: the chunks that these command lines load, and the functions that they call, are ready in the cache. */
const commonRuns = [
  ['--help'],
  ['pets', 'list', '--base-url', 'http://127.0.0.1:1', '--retries', '0'],
  ['--offline', 'pets', 'list'],
];

/**
 * Writes the chunks of a build: the light ones into packs, each other one as a file of its own.
 *
 * @param chunks code by file name.
 * @param first names of the chunks that every run needs.
 * @param light names of the chunks that go into packs.
 * @param scratch a folder for what the common runs keep.
 */
export async function writeChunks(outdir, { chunks, first, light, scratch }) {
  const packed = new Set(light);
  const heavy = Object.keys(chunks).filter((name) => !packed.has(name));
  for (const name of heavy) {
    await writeFile(join(outdir, name), redirect(chunks[name], packed, 'require("./main.js").load'));
  }
  const functionsOf = (names) =>
    names.map(
      (name) =>
        `"./${name}":function(exports,require,module){${redirect(chunks[name], packed, '__chunk')}\n}`,
    );
  const later = light.filter((name) => !first.includes(name));
  await writeFile(join(outdir, 'main.js'), loaderWith(functionsOf(first)));
  await writePack(outdir, 'rest.js', functionsOf(later));
  await writePack(outdir, 'common.js', []);
  const needed = await runCommon(outdir, scratch);
  await writePack(outdir, 'common.js', functionsOf(later.filter((name) => needed.has(`./${name}`))));
  await writePack(outdir, 'rest.js', functionsOf(later.filter((name) => !needed.has(`./${name}`))));
  await runCommon(outdir, scratch);
}

/** Calls for a chunk in a pack go to the loader. */
function redirect(code, packed, loader) {
  return code.replace(/\brequire\("\.\/([\w.-]+)"\)/g, (call, name) =>
    packed.has(name) ? `${loader}("./${name}")` : call,
  );
}

/** Writes a pack and a cache of its outermost function, for the Node that builds. */
async function writePack(outdir, name, functions) {
  const source = `module.exports=(__chunk)=>({${functions.join(',\n')}});\n`;
  await writeFile(join(outdir, name), source);
  await writeFile(
    join(outdir, cacheOf(name)),
    new Script(wrap(source), { filename: name }).createCachedData(),
  );
}

/** Runs what is common, all in one process; gives the names of the chunks it loaded, and renews the cache of the common ones. */
async function runCommon(outdir, scratch) {
  const [runner, loaded] = [join(scratch, 'runner.cjs'), join(scratch, 'loaded.json')];
  await writeFile(
    runner,
    `const { writeFileSync } = require('node:fs');
    const runs = ${JSON.stringify(commonRuns)};
    let loader;
    process.exit = () => {
      const words = runs.shift();
      if (!words) {
        const { file, script } = loader.packs[1];
        writeFileSync(loader.cacheOf(file), script.createCachedData());
        writeFileSync(${JSON.stringify(loaded)}, JSON.stringify([...loader.modules.keys()]));
        process.reallyExit(0);
      }
      process.argv = [process.execPath, 'petstore', ...words];
      loader?.modules.delete('./main.js');
      if (loader) loader.load('./main.js');
      else loader = require(${JSON.stringify(resolve(outdir, 'main.js'))});
    };
    process.exit();`,
  );
  execFileSync(process.execPath, [runner], {
    cwd: outdir,
    env: { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: scratch, PETSTORE_STATE_DIR: scratch },
    stdio: 'ignore',
  });
  return new Set(JSON.parse(await readFile(loaded, 'utf8')));
}

/** The name of a pack's code cache; another V8 finds none, and compiles. */
function cacheOf(file) {
  return file.replace('.js', `-${process.versions.v8}-${process.arch}.cache`);
}

function wrap(body) {
  return `(function(module){${body}\n})`;
}

const loaderWith = (functions) => `const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const __chunk = load;
const modules = new Map();
const packs = [{ functions: {${functions.join(',\n')}} }, { file: 'common.js' }, { file: 'rest.js' }];

function load(name) {
  const known = modules.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  functionOf(name)(module.exports, require, module);
  return module.exports;
}

function functionOf(name) {
  for (const pack of packs) {
    pack.functions ??= open(pack);
    if (pack.functions[name]) return pack.functions[name];
  }
}

function open(pack) {
  const path = join(__dirname, pack.file);
  let cachedData;
  try {
    cachedData = readFileSync(join(__dirname, cacheOf(pack.file)));
  } catch {
    return require(path)(load);
  }
  const { Script } = require('node:vm');
  pack.script = new Script(wrap(readFileSync(path, 'latin1')), { filename: pack.file, cachedData });
  const module = {};
  pack.script.runInThisContext()(module);
  return module.exports(load);
}

${cacheOf}

${wrap}

module.exports = { load, modules, packs, cacheOf };
load('./main.js');
`;
