/** Only the prompts that are used: the import of the whole package would bundle its editor prompt with many encodings. */
export { confirm, input, select } from '@inquirer/prompts';
