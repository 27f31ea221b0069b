// Packs the light chunks of a build into one file with a V8 code cache beside it: finding, reading and compiling forty
// small files takes most of a start. A chunk in the pack is a function, run when it is first required.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';

/**
 * Writes a build's chunks: those of the pack as functions of `pack-body.js`, the others as files of their own.
 *
 * @param chunks code by file name.
 * @param packed names of the chunks that go into the pack.
 */
export async function writeChunks(outdir, chunks, packed) {
  const redirected = Object.entries(chunks).map(([name, code]) => [name, redirect(code, packed)]);
  const functions = redirected
    .filter(([name]) => packed.has(name))
    .map(([name, code]) => `"./${name}":function(exports,require,module){${code}\n}`);
  const files = redirected.filter(([name]) => !packed.has(name));
  await Promise.all([
    ...files.map(([name, code]) => writeFile(join(outdir, name), code)),
    writeFile(join(outdir, 'pack-body.js'), `module.exports={${functions.join(',\n')}};\n`),
    writeFile(join(outdir, 'pack.js'), loader),
  ]);
}

/**
 * Writes the code cache for the Node that builds, with the functions that a list on the embedded store has compiled.
 * Another Node finds no cache of its V8, and compiles; from Node 22 its own compile cache does the rest.
 */
export async function writeCodeCache(outdir, folder) {
  const { cacheFile, filename, wrap } = await import(resolve(outdir, 'pack.js')).then(
    (loaded) => loaded.default,
  );
  const source = wrap(await readFile(join(outdir, 'pack-body.js'), 'utf8'));
  await writeFile(cacheFile, new Script(source, { filename }).createCachedData());
  const warm = join(folder, 'warm.cjs');
  await writeFile(
    warm,
    `process.on('exit', () => {
      const { cacheFile, script } = require(${JSON.stringify(resolve(outdir, 'pack.js'))});
      require('node:fs').writeFileSync(cacheFile, script().createCachedData());
    });`,
  );
  execFileSync(process.execPath, ['--require', warm, 'bin/petstore.js', '--offline', 'pets', 'list'], {
    env: { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: folder, PETSTORE_STATE_DIR: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function redirect(code, packed) {
  return code.replace(/\brequire\("\.\/([\w.-]+)"\)/g, (call, name) =>
    packed.has(name) ? `require("./pack.js").load("./${name}")` : call,
  );
}

const loader = `const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const bodyFile = join(__dirname, 'pack-body.js');
const cacheFile = join(__dirname, \`pack-\${process.versions.v8}-\${process.arch}.cache\`);
const filename = 'pack-body.js';
const wrap = (body) => \`(function(module){\${body}\\n})\`;
const modules = new Map();
let functions;
let script;

function load(name) {
  const known = modules.get(name);
  if (known) return known.exports;
  functions ??= compile();
  const module = { exports: {} };
  modules.set(name, module);
  functions[name](module.exports, require, module);
  return module.exports;
}

function compile() {
  let cachedData;
  try {
    cachedData = readFileSync(cacheFile);
  } catch {
    return require('./pack-body.js');
  }
  const { Script } = require('node:vm');
  script = new Script(wrap(readFileSync(bodyFile, 'latin1')), { filename, cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module);
  return module.exports;
}

module.exports = { load, modules, cacheFile, filename, wrap, script: () => script };
`;
