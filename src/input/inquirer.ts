/** The prompts in use. An import of the whole package would also bundle its editor prompt, with many encodings. */
export { confirm, input, select } from '@inquirer/prompts';
