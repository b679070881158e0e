import { expect, test } from 'vitest';
import { meaning } from '../../../src/backends/redis/errors.ts';

/** What each says of a script whose user may not run a command in it. */
const WORDS = [
  [
    'Redis 6.2',
    "ERR Error running script (call to f_9d): @user_script:1: @user_script: 1: The user executing the script can't run this command or subcommand",
  ],
  [
    'Redis 7.0',
    "ERR The user executing the script can't run this command or subcommand script: 9d, on @user_script:1.",
  ],
  [
    'Redis 8.0 and Valkey 8 and 9',
    "ERR ACL failure in script: User app has no permissions to run the 'set' command script: 9d, on @user_script:1.",
  ],
  ['any, before the script runs', "NOPERM User app has no permissions to run the 'evalsha' command"],
] as const;

test.each(WORDS)('a right that is missing is a definite refusal in the words of %s', (_server, words) => {
  expect(meaning(new Error(words), 'lock', 'k')).toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringContaining('grant the user the rights'),
  });
});
