/** Pages of help that belong to no single command: the words after `petstore help`. */
export const topicNames = [
  'flags',
  'environment',
  'exit-codes',
  'formats',
  'records',
  'bulk',
  'checks',
  'ci',
] as const;
export type TopicName = (typeof topicNames)[number];
