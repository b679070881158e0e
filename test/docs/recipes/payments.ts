/**
 * Stands in the place of `payments.ts` of the recipe about Idempotency-Key: answers are rows of a real database, of 70 kB, of as much that no
 * packing makes shorter, and what JSON has not. Each is asked for twice.
 */
import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';

interface Answer {
  status: number;
  body: unknown;
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const row = `SELECT 7::bigint AS id, now() AS at, 1.50::numeric AS amount, NULL AS note, '\\x01ff'::bytea AS raw, ARRAY[1, 2] AS list, repeat('é ', $1) AS text`;
let runs = 0;

const ANSWERS: Record<string, () => Promise<unknown>> = {
  'a row': async () => (await pool.query(row, [1])).rows[0],
  '70 kB': async () => (await pool.query(row, [35_000])).rows,
  nothing: async () => undefined,
  noise: async () => randomBytes(70_000).toString('base64'),
  'a bigint': async () => ({ id: 7n }),
};

export async function pay({ answer }: { answer: string }): Promise<Answer> {
  runs++;
  return { status: 201, body: await ANSWERS[answer]!() };
}

export async function tryIt(url: string): Promise<void> {
  const post = async (key: string, more: object) => {
    const headers = {
      'idempotency-key': `"${process.pid} ${key}"`,
      ...('body' in more && { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${url}/payments`, { method: 'POST', headers, ...more });
    return {
      status: response.status,
      replayed: response.headers.has('idempotent-replayed'),
      text: await response.text(),
    };
  };
  for (const answer of Object.keys(ANSWERS)) {
    const before = runs;
    const body = JSON.stringify({ answer, padding: 'x'.repeat(answer === '70 kB' ? 70_000 : 0) });
    const first = await post(answer, { body });
    const again = await post(answer, { body });
    const same = first.text === again.text && first.status === again.status;
    console.log(
      answer,
      first.status,
      same ? 'twice' : again.status,
      again.replayed,
      runs - before,
      runs - before === 1 ? 'run' : 'runs',
    );
    if (answer === 'a row') console.log(first.text.replace(/"at":"[\dT:.-]+Z"/, '"at":"a time"'));
  }
  await pool.end();
}
