/** The prompts in use: whoever imports the whole package bundles its editor prompt with all its encodings. */
export { confirm, input, search, select } from '@inquirer/prompts';
