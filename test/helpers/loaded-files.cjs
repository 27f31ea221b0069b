// Preloaded into a run of the program: writes the files, and the chunks of the pack, that it loaded to the file that
// LOADED_FILES names.
process.on('exit', () => {
  const files = Object.keys(require.cache);
  const pack = files.find((file) => file.endsWith('pack.js'));
  const chunks = pack ? [...require(pack).modules.keys()] : [];
  require('node:fs').writeFileSync(process.env.LOADED_FILES, [...files, ...chunks].join('\n'));
});
