#!/usr/bin/env node
// Runs the bundles with code caches of V8, one for each command and package, which saves half of the start-up time.
const fs = require('node:fs');
const { basename, dirname, isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');

const dist = join(__dirname, '../dist');
const words = process.argv.slice(2);
const bundle = isReadCommand() ? 'reads' : 'petstore';
/** The exports of the packages, by the paths of their bundles. */
const loaded = new Map();

if (!(words.length === 1 && words[0] === '--version' && printVersion())) {
  const cache = findCache();
  const { code, command } = cache ? {} : require('../dist/without-program.js').answerLine(words, dist);
  if (code === undefined) runBundle(bundle, cache ?? programCache(command));
  else process.exitCode = code;
}

/** Returns false if it cannot be written at once. The program waits for a full pipe, and says why nothing can be written. */
function printVersion() {
  try {
    fs.writeSync(1, `${require('../package.json').version}\n`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns true for `list` and `get` of a noun, by these names and not by an alias. The bundle for them is half as long. Words
 * elsewhere may be the value of a flag.
 */
function isReadCommand() {
  const [noun, verb] = words.slice(words[0] === '--profile' ? 2 : words[0] === '--offline' ? 1 : 0);
  return ['pets', 'categories', 'orders', 'inventory'].includes(noun) && ['list', 'get'].includes(verb);
}

/** Finds the code cache of a command of the line, such as `pets-list`. The table of all commands takes longer to read. */
function findCache() {
  if (['__complete', 'help', '--help', '-h'].some((word) => words.includes(word))) return undefined;
  const pairs = words.slice(1).map((word, at) => `${words[at]}-${word}`);
  for (const pair of pairs) {
    const file = /^[a-z-]+$/.test(pair) && programCache(pair);
    if (file && fs.existsSync(file)) return file;
  }
  return undefined;
}

/** Each command has its own cache, and another one with --offline, because a cache has only the functions that ran. */
function programCache(command) {
  return cacheFile(`${bundle}-${command}${words.includes('--offline') ? '-offline' : ''}`);
}

/** Loads what a bundle imports: the bundle of a package, or a module of Node. */
function load(path) {
  if (!path.startsWith('../dist/')) return require(path);
  const name = basename(path, '.js');
  if (!loaded.has(path)) loaded.set(path, runBundle(name, cacheFile(name)));
  return loaded.get(path);
}

/**
 * Runs a bundle and returns its exports.
 *
 * @param file its code cache, which may not exist yet. It is undefined for a user without a folder for caches.
 */
function runBundle(name, file) {
  const filename = join(dist, `${name}.js`);
  const source = fs.readFileSync(filename, 'latin1');
  // The bundle ends with a hash of its content.
  const build = source.slice(-9);
  const cachedData = file && readCache(file, build);
  const script = new Script(source, { filename, cachedData });
  // The cache of a run that failed would lack most functions. 8 is the code of a difference.
  const isDone = (code) => code === 0 || code === 8;
  // V8 takes only a cache that was made under its own flags. A run with flags must not replace the cache of runs without.
  const hasFlags = process.execArgv.length > 0 || process.env.NODE_OPTIONS;
  if (file && (!cachedData || script.cachedDataRejected) && !hasFlags) {
    let isWritten = false;
    const write = () => {
      if (!isWritten) writeCache(file, build, script);
      isWritten = true;
    };
    // V8 drops the code of functions that have not run for long, and a server runs long.
    if (words[0] === 'serve') setTimeout(write, 1000).unref();
    process.on('exit', (code) => isDone(code) && write());
  }
  const module = { exports: {} };
  script.runInThisContext()(load, module, dist);
  return module.exports;
}

function cacheFile(name) {
  const folder = cacheFolder();
  return folder && join(folder, `${name}-${process.versions.v8}-${process.arch}.cache`);
}

/** Each user has caches of their own: beside the bundle if they own it, else in their cache folder. */
function cacheFolder() {
  const user = process.getuid?.();
  if (user === undefined || user === fs.statSync(dist).uid) return dist;
  // Under sudo, HOME can be the home of another user.
  if (user === 0) return undefined;
  const { HOME, XDG_CACHE_HOME } = process.env;
  // A relative path would run what lies in the current folder.
  const parent = [XDG_CACHE_HOME, HOME && join(HOME, '.cache')].find((path) => path && isAbsolute(path));
  return parent && join(parent, 'petstore');
}

/** A cache is code: it is used only if it belongs to this user, nobody else may write it, and it was made from this bundle. */
function readCache(file, build) {
  try {
    const cache = fs.openSync(file);
    const { uid, mode } = fs.fstatSync(cache);
    const content = fs.readFileSync(cache);
    fs.closeSync(cache);
    if ((process.getuid && process.getuid() !== uid) || (mode & 0o022) !== 0) return undefined;
    const end = content.length - build.length;
    return content.latin1Slice(end) === build ? content.subarray(0, end) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A cache gets its name once it is whole on the disk. A checksum of it would take a tenth of the time of a start, and V8
 * itself rejects one that is too short, or was made by another version or under other flags.
 */
function writeCache(file, build, script) {
  const temporary = `${file}.${process.pid}`;
  try {
    const folder = dirname(file);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(temporary, Buffer.concat([script.createCachedData(), Buffer.from(build)]), {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
    fs.renameSync(temporary, file);
  } catch {
    try {
      // On a full disk it has a part of the cache.
      fs.unlinkSync(temporary);
    } catch {}
  }
}
