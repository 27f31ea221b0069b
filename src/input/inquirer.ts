/**
 * The prompts in use, one by one: importing the whole package would bundle its editor prompt with all its encodings.
 */
export { confirm, input, search, select } from '@inquirer/prompts';
