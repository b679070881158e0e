import { allOf, checkGiven, flag, invalid, namesOf, oneOf, shown } from '../core/index.ts';
import type { MemoOptions } from '../memo/memo.ts';
import { packed, unpacked } from './answer.ts';

type OfMemo = Pick<MemoOptions, 'keep' | 'wait' | 'ttl' | 'maxHold' | 'attempts' | 'rest' | 'seal'>;

/**
 * Options of `idempotency`. `keep` (default 24 h), `wait` (for the answer of a request that runs; default 1 s), `ttl`, `maxHold`,
 * `attempts`, `rest` and `seal` are options of the memo that keeps the answers.
 */
export interface IdempotencyOptions<R = never> extends OfMemo {
  /**
   * The caller: the account or tenant of your login, as text. **If the text lacks the account, one user gets the answer of another user with
   * the same key.** Method and path are part of the key already. With Hono the function gets the context. If all callers are one: `() => 'all'`.
   */
  readonly scope: (request: R) => string;
  /** Whether a request without the header is refused with 400. Default true. False: the handler runs without protection. */
  readonly required?: boolean | undefined;
  /** The protected HTTP methods; others pass. Default POST and PATCH. */
  readonly methods?: readonly string[] | undefined;
  /**
   * Whether an answer with this status is kept. If not, only its own caller gets the answer, and the next request runs the handler.
   * Default: true below 500, except 408, 425 and 429.
   */
  readonly keepStatus?: ((status: number) => boolean) | undefined;
  /** When the engine does not answer: `refuse` with 503 (default), or `run` the handler without protection. */
  readonly whenDown?: 'refuse' | 'run' | undefined;
  /** The URL of your page about the header: the `type` of refusals. Default: none. */
  readonly type?: string | undefined;
}

type Own = Omit<IdempotencyOptions, keyof OfMemo>;
const NAMES = allOf(
  namesOf<OfMemo>({ keep: true, wait: true, ttl: true, maxHold: true, attempts: true, rest: true, seal: true }),
  namesOf<Own>({ scope: true, required: true, methods: true, keepStatus: true, whenDown: true, type: true }),
);

/** Statuses below 500 that ask the client to try again. */
const TRANSIENT = [408, 425, 429];
const isLasting = (status: number): boolean => status < 500 && !TRANSIENT.includes(status);

/** @throws LockError `LOCK_INVALID` */
export function idempotencyPlan<R>(options: IdempotencyOptions<R>) {
  checkGiven(options, NAMES, 'the options of idempotency()');
  const { scope, required = true, methods = ['POST', 'PATCH'], keepStatus = isLasting, ...others } = options;
  const { whenDown = 'refuse', type, keep = '24h', wait = '1s', ...memo } = others;
  if (type !== undefined && typeof type !== 'string') throw invalid(`type is ${shown(type)}; it must be an address`);
  for (const [name, fn] of Object.entries({ scope, keepStatus }))
    if (typeof fn !== 'function')
      throw invalid(
        `${name} is ${shown(fn)}; it must be a function. Without a scope, users who send one key would share an answer`,
      );
  if (!Array.isArray(methods) || methods.some((method) => typeof method !== 'string'))
    throw invalid(`methods is ${shown(methods)}; it must be a list such as ['POST', 'PATCH']`);
  return {
    scope,
    required: flag(required, 'required'),
    methods: new Set(methods.map((method) => method.toUpperCase())),
    keepStatus,
    whenDown: oneOf(whenDown, ['refuse', 'run'], 'whenDown'),
    type,
    memo: { ...memo, keep, wait, encode: packed, decode: unpacked },
  };
}
