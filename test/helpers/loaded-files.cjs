// Preloaded into a run of the program: writes the files, and the chunks of its packs, that it loaded to the file that
// LOADED_FILES names.
process.on('exit', () => {
  const files = Object.keys(require.cache);
  const main = files.find((file) => file.endsWith('main.js'));
  const chunks = main ? [...require(main).modules.keys()] : [];
  require('node:fs').writeFileSync(process.env.LOADED_FILES, [...files, ...chunks].join('\n'));
});
