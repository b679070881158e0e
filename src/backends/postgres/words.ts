import type {
  Attempt,
  Claim,
  Grant,
  Handle,
  NewValue,
  Refusal,
  StoredValue,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/index.ts';
import { rangeOf } from './inspect.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';
import { fieldsOf } from './statements.ts';

/** Words in a table of their own. @param ready before the first statement: the tables are there */
export const wordsOf = (server: Server, ready: () => Promise<void>): Values => {
  const ask = async (call: string, key: string, asked: string): Promise<string> => {
    await ready();
    const [row] = await server.send(`CALL {${call}}($1, NULL)`, [Buffer.from(key)], asked, key);
    return String(row!.answer);
  };
  return {
    async look(key): Promise<ValueRecord> {
      const fields = fieldsOf(await ask('commit_look', key, 'a look at the words'));
      const [attempts, mark, begun] = fields.splice(-3);
      const last = { attempts: Number(attempts), mark: textOf(mark!), begun: BigInt(begun!) };
      return fields[0] ? { ...last, value: leftOf(fields) } : last;
    },
    async *keys(prefix): AsyncIterable<string> {
      await ready();
      for (const row of await server.send(sql.wordsKeys, rangeOf(prefix), 'a listing of the words'))
        yield textOf(String(row.key));
    },
    forget: async (key) => (await ask('commit_forget', key, 'forgetting the words')) === '1',
  };
};

/** What an attempt that asks for words takes beside the rest. */
export const inquiryOf = ({ age, mark, counts }: ValueCondition): unknown[] => [
  age === Number.POSITIVE_INFINITY ? null : age,
  mark,
  counts,
];

export const leaveOf = ({ key, id }: Handle, { text, ttl, ageless }: NewValue): unknown[] => [
  Buffer.from(key),
  id,
  Buffer.from(text),
  ttl,
  ageless ? ttl : 0,
];

/** What an attempt came to. @param fields of its answer; of one that asked for words, there are more behind the time */
export function attemptOf(fields: string[], { ttl }: Claim): Attempt {
  const [state, token, ahead, retryAfter, , attempts, mark, ...words] = fields;
  if (state === 'held') {
    const grant: Grant = { granted: true, token: BigInt(token!), validFor: ttl };
    return attempts ? { ...grant, attempts: Number(attempts) } : grant;
  }
  if (state === 'late') return { granted: false, late: true };
  if (state === 'left') return { granted: false, value: leftOf([token!, ...words]) };
  const refusal: Refusal = { granted: false, ahead: Number(ahead), retryAfter: Number(retryAfter) };
  return mark ? { ...refusal, mark: textOf(mark) } : refusal;
}

const leftOf = ([token, age, valid, said]: string[]): StoredValue => ({
  text: textOf(said!.slice(1)),
  token: BigInt(token!),
  age: Number(age),
  validFor: Number(valid),
});

const textOf = (hex: string): string => Buffer.from(hex, 'hex').toString();
