/** Locks that a session of a server keeps until it ends: what a process asks of its sessions, and what it believes of them. */
import { setImmediate as settled } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type LockSession, SessionLocks, type SessionSource } from '../../../src/backends/shared/session-locks.ts';
import { isExclusive, SHARED } from '../../../src/core/contract/admission.ts';
import type { Claim, Grant, Renewal } from '../../../src/core/contract/backend.ts';
import { claim } from '../../core/claim.ts';

interface Lock {
  readonly session: Session;
  readonly shared: boolean;
}

/** A server that grants a lock to the same session as often as that asks for it, as most do. */
class Server {
  readonly did: string[] = [];
  readonly #locks = new Map<string, Lock[]>();
  readonly #waiting: { readonly lock: string; readonly claim: Claim; readonly session: Session; grant(): void }[] = [];
  #tokens = 0n;

  take(lock: string, claim: Claim, session: Session): Grant | undefined {
    const shared = !isExclusive(claim);
    const holders = this.#locks.get(lock) ?? [];
    if (!holders.every((held) => held.session === session || (held.shared && shared))) return undefined;
    this.#locks.set(lock, [...holders, { session, shared }]);
    return { granted: true, token: ++this.#tokens, validFor: Number.POSITIVE_INFINITY };
  }

  wait(lock: string, claim: Claim, session: Session): Promise<Grant | undefined> {
    const grant = this.take(lock, claim, session);
    if (grant) return Promise.resolve(grant);
    const { promise, resolve } = Promise.withResolvers<Grant | undefined>();
    const entry = { lock, claim, session, grant: () => resolve(this.take(lock, claim, session)) };
    session.cancelWait = () => {
      this.#waiting.splice(this.#waiting.indexOf(entry), 1);
      resolve(undefined);
    };
    this.#waiting.push(entry);
    return promise;
  }

  free(lock: string, session: Session, shared: boolean): boolean {
    const holders = this.#locks.get(lock) ?? [];
    const at = holders.findIndex((held) => held.session === session && held.shared === shared);
    if (at >= 0) holders.splice(at, 1);
    if (holders.length === 0) this.#waiting.splice(0, 1)[0]?.grant();
    return at >= 0;
  }

  freeAll(session: Session): void {
    for (const [lock, holders] of this.#locks)
      for (const held of holders.filter((held) => held.session === session)) this.free(lock, session, held.shared);
  }
}

class Session implements LockSession {
  readonly #server: Server;
  readonly #name: string;
  readonly #ended = new AbortController();
  readonly ended = this.#ended.signal;
  confirm?: () => Promise<boolean>;
  cancelWait: () => void = () => {};
  /** What goes wrong with the next statement. */
  late = false;
  failure: 'before' | 'after' | undefined;
  deaf = false;
  answered: Promise<unknown> = Promise.resolve();

  constructor(server: Server, name: string) {
    this.#server = server;
    this.#name = name;
  }

  async take(lock: string, claim: Claim): Promise<Grant | 'late' | undefined> {
    this.#server.did.push(`${this.#name} takes ${lock}`);
    if (this.late) return 'late';
    const { failure } = this;
    this.failure = undefined;
    const answer = failure === 'before' ? undefined : this.#server.take(lock, claim, this);
    await this.answered;
    if (failure) throw new Error('the connection is gone');
    return answer;
  }

  async wait(lock: string, claim: Claim): Promise<Grant | undefined> {
    this.#server.did.push(`${this.#name} waits for ${lock}`);
    const grant = await this.#server.wait(lock, claim, this);
    if (grant) return grant;
    await settled();
    this.#server.did.push(`${this.#name} waits no longer`);
    return undefined;
  }

  async cancel(): Promise<void> {
    await settled();
    this.#server.did.push(`${this.#name} cancels`);
    this.cancelWait();
  }

  async unlock(lock: string, shared: boolean): Promise<boolean> {
    await settled();
    this.#server.did.push(`${this.#name} unlocks ${lock}`);
    if (this.deaf) throw new Error('no answer');
    return this.#server.free(lock, this, shared);
  }

  cut(): void {
    this.#server.did.push(`${this.#name} is cut`);
    this.#ended.abort();
    this.#server.freeAll(this);
  }
}

/** A process with its sessions: one to ask with, which all share, or one for each claim; and some to wait with. */
function process(server: Server, { single = false, name = 'p', waits = 1 } = {}) {
  const sessions: Session[] = [];
  const done: string[] = [];
  let opening: Promise<unknown> = Promise.resolve();
  let next: Partial<Session> = {};
  const open = (kind: string): Session => {
    const session = Object.assign(new Session(server, `${name} ${kind}`), next);
    sessions.push(session);
    return session;
  };
  let shared = open('asker');
  const source: SessionSource<Session> = {
    single,
    async toAsk() {
      await opening;
      if (single) return open('asker');
      if (shared.ended.aborted) shared = open('asker');
      return shared;
    },
    async toWait() {
      await Promise.all([opening, settled()]);
      return waits-- > 0 ? open('waiter') : undefined;
    },
    done(_, waited = false) {
      done.push(waited ? 'wait' : 'use');
    },
    async close() {
      await settled();
      server.did.push(`${name} is closed`);
    },
  };
  const translate = (error: unknown, key: string) => new Error(`${key}: ${(error as Error).message}`);
  return {
    locks: new SessionLocks<Session>(source, (key) => `lock of ${key}`, translate),
    sessions,
    done,
    get asking() {
      return shared;
    },
    /** How the sessions are that are opened from now on. */
    opens(like: Partial<Session>) {
      next = like;
    },
    /** So many more sessions may be opened to wait with. */
    mayWait(more: number) {
      waits = more;
    },
    /** No session can be had until this resolves. */
    opensAfter(promise: Promise<unknown>) {
      opening = promise;
    },
  };
}

const granted = { granted: true, token: 1n, validFor: Number.POSITIVE_INFINITY };
const refused = { granted: false };
const reader = (id: string): Claim => claim(id, SHARED);
const kept = { validFor: Number.POSITIVE_INFINITY };

test('a claim is not confirmed while its attempt is under way, as a quorum asks when it was not answered', async () => {
  const { locks, opensAfter } = process(new Server());
  const opening = Promise.withResolvers<void>();
  opensAfter(opening.promise);
  const asked = locks.attempt(claim('a'));
  expect(await locks.renew([claim('a')]), 'without a session').toEqual(['unknown']);
  opening.resolve();
  expect(await asked).toEqual(granted);
  expect(await locks.renew([claim('a')])).toEqual([kept]);
});

test('a claim has its lock until its release, and the server is asked once, however often the claim asks', async () => {
  const server = new Server();
  const { locks, done } = process(server);
  expect(await locks.attempt(claim('a'))).toEqual(granted);
  expect(await locks.attempt(claim('a'))).toEqual(granted);
  expect(await locks.renew([claim('a'), claim('b')])).toEqual([kept, 'gone']);
  expect(await locks.release(claim('a'))).toEqual({ freed: true });
  expect(server.did).toEqual(['p asker takes lock of key', 'p asker unlocks lock of key']);
  expect(done, 'the session was given back').toEqual(['use']);
  expect(await locks.renew([claim('a')])).toEqual(['gone']);
  expect(await locks.release(claim('a'))).toEqual({ freed: false });
});

test('two attempts of one claim at the same time are one', async () => {
  const server = new Server();
  const { locks } = process(server);
  expect(await Promise.all([locks.attempt(claim('a')), locks.attempt(claim('a'))])).toEqual([granted, granted]);
  expect(server.did).toHaveLength(1);
});

test('a lock that this process holds is granted to no other claim here, although the server would', async () => {
  const server = new Server();
  const { locks } = process(server);
  await locks.attempt(claim('a'));
  expect(await locks.attempt(claim('b'))).toEqual(refused);
  expect(await locks.attempt(reader('r'))).toEqual(refused);
  expect(await locks.attempt(claim('c', { key: 'other' }))).toMatchObject({ granted: true });
  expect(server.did).toEqual(['p asker takes lock of key', 'p asker takes lock of other']);
});

test('readers of this process hold together, and keep a writer out until the last of them leaves', async () => {
  const { locks } = process(new Server());
  expect(await locks.attempt(reader('r'))).toMatchObject({ granted: true });
  expect(await locks.attempt(reader('s'))).toMatchObject({ granted: true });
  expect(await locks.attempt(claim('w'))).toEqual(refused);
  expect(await locks.release(reader('r'))).toEqual({ freed: true });
  expect(await locks.attempt(claim('w'))).toEqual(refused);
  expect(await locks.renew([reader('s')]), 'the other one still has it').toEqual([kept]);
  await locks.release(reader('s'));
  expect(await locks.attempt(claim('w'))).toMatchObject({ granted: true });
});

test('a lock that another process holds is refused, and leaves nothing here: it can be had later', async () => {
  const server = new Server();
  const [here, there] = [process(server), process(server, { name: 'q' })];
  await there.locks.attempt(claim('theirs'));
  expect(await here.locks.attempt(claim('a'))).toEqual(refused);
  expect(here.done).toEqual(['use']);
  expect(await here.locks.release(claim('a'))).toEqual({ freed: false });
  await there.locks.release(claim('theirs'));
  expect(await here.locks.attempt(claim('b'))).toMatchObject({ granted: true });
});

test('an attempt that came too late is told so', async () => {
  const { locks, asking, done } = process(new Server());
  asking.late = true;
  expect(await locks.attempt(claim('a'))).toEqual({ granted: false, late: true });
  expect(done).toEqual(['use']);
});

describe('a session that has ended', () => {
  test('has lost its locks: a hold of it is gone, and another claim may have the lock', async () => {
    const { locks, asking, done } = process(new Server());
    await locks.attempt(claim('a'));
    asking.cut();
    expect(await locks.renew([claim('a')])).toEqual(['gone']);
    expect(done).toEqual(['use']);
    expect(await locks.attempt(claim('b'))).toMatchObject({ granted: true });
  });

  test('takes nothing from the next attempt of its claim, when its own attempt fails later than that began', async () => {
    const server = new Server();
    const { locks, asking } = process(server);
    const answered = Promise.withResolvers<void>();
    Object.assign(asking, { answered: answered.promise, failure: 'after' });
    const failed = expect(locks.attempt(claim('a'))).rejects.toThrow('key: the connection is gone');
    await settled();
    asking.cut();
    expect(await locks.attempt(claim('a'))).toMatchObject({ granted: true });
    answered.resolve();
    await failed;
    expect(await locks.renew([claim('a')])).toEqual([kept]);
    expect(await locks.release(claim('a'))).toEqual({ freed: true });
  });

  test('frees nothing a second time', async () => {
    const server = new Server();
    const { locks, asking } = process(server);
    await locks.attempt(claim('a'));
    asking.cut();
    server.did.splice(0);
    expect(await locks.release(claim('a'))).toEqual({ freed: false });
    expect(server.did).toEqual([]);
  });
});

test.each<[string, () => Promise<boolean>, Renewal]>([
  ['says so', async () => true, kept],
  ['says no', async () => false, 'gone'],
  ['does not answer', () => Promise.reject(new Error('no answer')), 'gone'],
])('a hold that its server can confirm is held where the server %s', async (_, confirm, expected) => {
  const { locks, asking } = process(new Server());
  await locks.attempt(claim('a'));
  asking.confirm = confirm;
  expect(await locks.renew([claim('a')])).toEqual([expected]);
});

describe('an attempt that fails', () => {
  test('is told by the error of its key, and what it may have got is given back', async () => {
    const server = new Server();
    const { locks, asking, done } = process(server);
    asking.failure = 'after';
    await expect(locks.attempt(claim('a'))).rejects.toThrow('key: the connection is gone');
    expect(server.did).toEqual(['p asker takes lock of key', 'p asker unlocks lock of key']);
    expect(done).toEqual(['use']);
    expect(await process(server, { name: 'q' }).locks.attempt(claim('b'))).toMatchObject({ granted: true });
    expect(await locks.release(claim('a'))).toEqual({ freed: false });
  });

  test('ends its session where not even that is answered', async () => {
    const server = new Server();
    const { locks, asking } = process(server);
    asking.failure = 'after';
    asking.deaf = true;
    await expect(locks.attempt(claim('a'))).rejects.toThrow('key: the connection is gone');
    expect(asking.ended.aborted).toBe(true);
    expect(await process(server, { name: 'q' }).locks.attempt(claim('b'))).toMatchObject({ granted: true });
  });

  test('ends its session where another reader has the lock on it, for that reader must not lose its lock unknown', async () => {
    const server = new Server();
    const { locks, asking } = process(server);
    await locks.attempt(reader('r'));
    asking.failure = 'before';
    await expect(locks.attempt(reader('s'))).rejects.toThrow('key: the connection is gone');
    expect(server.did).not.toContain('p asker unlocks lock of key');
    expect(asking.ended.aborted).toBe(true);
    expect(await locks.renew([reader('r')])).toEqual(['gone']);
  });

  test('leaves a reader alone that has the lock on another session', async () => {
    const server = new Server();
    const { locks, opens, sessions } = process(server, { single: true });
    await locks.attempt(reader('r'));
    opens({ failure: 'after' });
    await expect(locks.attempt(reader('s'))).rejects.toThrow('key: the connection is gone');
    expect(server.did.at(-1)).toBe('p asker unlocks lock of key');
    expect(sessions.filter(({ ended }) => ended.aborted)).toEqual([]);
    expect(await locks.renew([reader('r'), reader('s')])).toEqual([kept, 'gone']);
  });
});

describe('a release that finds its attempt still under way', () => {
  test('waits for the answer, and gives back what it was', async () => {
    const server = new Server();
    const { locks, asking } = process(server);
    const answered = Promise.withResolvers<void>();
    asking.answered = answered.promise;
    const attempt = locks.attempt(claim('a'));
    await settled();
    const released = locks.release(claim('a'));
    await settled();
    answered.resolve();
    expect(await attempt).toMatchObject({ granted: true });
    expect(await released).toEqual({ freed: true });
    expect(await process(server, { name: 'q' }).locks.attempt(claim('b'))).toMatchObject({ granted: true });
  });

  test('frees nothing where the answer was no', async () => {
    const server = new Server();
    const [here, there] = [process(server), process(server, { name: 'q' })];
    await there.locks.attempt(claim('theirs'));
    const answered = Promise.withResolvers<void>();
    here.asking.answered = answered.promise;
    const attempt = here.locks.attempt(claim('a'));
    await settled();
    const released = here.locks.release(claim('a'));
    await settled();
    answered.resolve();
    expect(await attempt).toEqual(refused);
    expect(await released).toEqual({ freed: false });
    expect(server.did).not.toContain('p asker unlocks lock of key');
  });

  test('frees nothing more where the attempt fails: its own failure has given back what there was', async () => {
    const server = new Server();
    const { locks, asking } = process(server);
    const answered = Promise.withResolvers<void>();
    asking.answered = answered.promise;
    asking.failure = 'after';
    const failed = expect(locks.attempt(claim('a'))).rejects.toThrow('key: the connection is gone');
    await settled();
    const released = locks.release(claim('a'));
    await settled();
    answered.resolve();
    await failed;
    expect(await released).toEqual({ freed: false });
    expect(server.did).toEqual(['p asker takes lock of key', 'p asker unlocks lock of key']);
  });

  test('ends the session at once where that serves this claim alone', async () => {
    const server = new Server();
    const { locks, opens, sessions } = process(server, { single: true });
    const answered = Promise.withResolvers<void>();
    opens({ answered: answered.promise });
    const attempt = locks.attempt(claim('a'));
    await settled();
    expect(await locks.release(claim('a'))).toEqual({ freed: false });
    expect(sessions.at(-1)!.ended.aborted).toBe(true);
    expect(await process(server, { name: 'q' }).locks.attempt(claim('b'))).toMatchObject({ granted: true });
    answered.resolve();
    await attempt;
    expect(await locks.renew([claim('a')]), 'whatever is answered').toEqual(['gone']);
  });

  test('unlocks where the session serves this claim alone, and is known to have the lock', async () => {
    const server = new Server();
    const { locks, sessions } = process(server, { single: true });
    await locks.attempt(claim('a'));
    expect(await locks.release(claim('a'))).toEqual({ freed: true });
    expect(server.did.at(-1)).toBe('p asker unlocks lock of key');
    expect(sessions.at(-1)!.ended.aborted).toBe(false);
  });

  test.each([
    false,
    true,
  ])('takes the claim back before a session was found, be it for this claim alone (%s) or not, and nothing is asked', async (single) => {
    const server = new Server();
    const { locks, opensAfter, done } = process(server, { single });
    const opened = Promise.withResolvers<void>();
    opensAfter(opened.promise);
    const attempt = locks.attempt(claim('a'));
    const failed = expect(attempt).rejects.toThrow('key: the claim was given up meanwhile');
    await settled();
    expect(await locks.release(claim('a'))).toEqual({ freed: false });
    opened.resolve();
    await failed;
    expect(server.did).toEqual([]);
    expect(done, 'the session that came too late was given back').toEqual(['use']);
  });
});

describe('two releases of one claim at the same time', () => {
  test('unlock once: a second unlock would free the lock of another reader on the session', async () => {
    const server = new Server();
    const { locks, done } = process(server);
    await locks.attempt(reader('stays'));
    await locks.attempt(reader('leaves'));
    const both = await Promise.all([locks.release(reader('leaves')), locks.release(reader('leaves'))]);
    expect(both, 'the answers').toEqual([{ freed: true }, { freed: true }]);
    expect(
      server.did.filter((what) => what.includes('unlocks')),
      'unlocks',
    ).toHaveLength(1);
    expect(done, 'the session was given back once').toEqual(['use']);
    const writer = await process(server, { name: 'q' }).locks.attempt(claim('w'));
    expect(writer, 'a writer beside the reader that stays').toEqual(refused);
  });

  test('give the session back only when the server has answered the unlock', async () => {
    const server = new Server();
    const { locks, sessions, done } = process(server, { single: true });
    await locks.attempt(claim('a'));
    const answered = Promise.withResolvers<boolean>();
    sessions.at(-1)!.unlock = async () => {
      sessions.at(-1)!.unlock = async () => false; // it has the lock no more, as far as it knows
      return answered.promise;
    };
    const both = [locks.release(claim('a')), locks.release(claim('a'))];
    await settled();
    expect(done, 'given back before the answer').toEqual([]);
    answered.resolve(true);
    await Promise.all(both);
    expect(done, 'given back after it').toEqual(['use']);
  });
});

test('a release that the server does not answer fails, and ends the session, which frees the lock', async () => {
  const server = new Server();
  const { locks, asking } = process(server);
  await locks.attempt(claim('a'));
  asking.deaf = true;
  await expect(locks.release(claim('a'))).rejects.toThrow('no answer');
  expect(asking.ended.aborted).toBe(true);
  expect(await locks.attempt(claim('b'))).toMatchObject({ granted: true });
});

describe('a claim that waits on the server', () => {
  /** The lock is held by another process, and a claim of this one is watched. */
  async function waiting(options = {}) {
    const server = new Server();
    const [here, there] = [process(server, options), process(server, { name: 'q' })];
    await there.locks.attempt(claim('theirs'));
    await here.locks.attempt(claim('a'));
    const woken: (Grant | undefined)[] = [];
    const watch = await here.locks.watch(claim('a'), (grant) => void woken.push(grant));
    server.did.splice(0, 2);
    const leaves = async (): Promise<void> => {
      await there.locks.release(claim('theirs'));
      await settled();
    };
    return { server, ...here, woken, watch, leaves };
  }

  test('is woken with its grant when the lock is free, and then holds', async () => {
    const { locks, woken, leaves, server } = await waiting();
    expect(server.did).toEqual(['p waiter waits for lock of key']);
    expect(await locks.attempt(claim('a')), 'meanwhile').toEqual(refused);
    await leaves();
    expect(woken).toEqual([{ ...granted, token: 2n }]);
    expect(await locks.attempt(claim('a'))).toEqual({ ...granted, token: 2n });
    expect(await locks.renew([claim('a')])).toEqual([kept]);
    expect(await locks.attempt(claim('b')), 'it alone').toEqual(refused);
    expect(await locks.release(claim('a'))).toEqual({ freed: true });
    expect(server.did.at(-1)).toBe('p waiter unlocks lock of key');
  });

  test('is not asked for on the server meanwhile', async () => {
    const { locks, server } = await waiting();
    await locks.attempt(claim('a'));
    await locks.watch(claim('a'), () => {});
    expect(server.did).toEqual(['p waiter waits for lock of key']);
  });

  test('waits no longer once its watch has ended, and then nobody wakes it', async () => {
    const { watch, leaves, woken, server, locks } = await waiting();
    await watch[Symbol.asyncDispose]();
    expect(server.did).toContain('p waiter cancels');
    await leaves();
    expect(woken).toEqual([]);
    expect(await locks.renew([claim('a')])).toEqual(['gone']);
  });

  test('goes on where only an earlier watch of it ends', async () => {
    const { watch, leaves, woken, server, locks } = await waiting();
    const told: unknown[] = [];
    await locks.watch(claim('a'), (grant) => void told.push(grant));
    await watch[Symbol.asyncDispose]();
    expect(server.did).not.toContain('p waiter cancels');
    await leaves();
    expect([woken, told]).toEqual([[], [{ ...granted, token: 2n }]]);
  });

  test('leaves with its release, which found it in the queue of the server', async () => {
    const { locks, leaves, woken, server } = await waiting();
    expect(await locks.release(claim('a'))).toEqual({ freed: true });
    expect(server.did).toContain('p waiter cancels');
    await leaves();
    expect(woken).toEqual([]);
    expect(await process(server, { name: 'r' }).locks.attempt(claim('b'))).toMatchObject({ granted: true });
  });

  test('has not begun to wait before its watch has, and has ended on the server when the watch has', async () => {
    const { watch, server } = await waiting();
    expect(server.did).toEqual(['p waiter waits for lock of key']);
    await watch[Symbol.asyncDispose]();
    expect(server.did.slice(1)).toEqual(['p waiter cancels', 'p waiter waits no longer']);
  });

  test('does not begin to wait if its watch ends before there is a session for it, and that is given back', async () => {
    const server = new Server();
    const { locks, done } = process(server);
    const watching = locks.watch(claim('a'), () => {});
    expect(await locks.release(claim('a'))).toEqual({ freed: false });
    await watching;
    expect(server.did).toEqual([]);
    expect(done).toEqual(['wait']);
  });

  test('unlocks what it waited for also where the session serves it alone', async () => {
    const { locks, leaves, server, sessions } = await waiting({ single: true });
    await leaves();
    expect(await locks.release(claim('a'))).toEqual({ freed: true });
    expect(server.did.at(-1)).toBe('p waiter unlocks lock of key');
    expect(sessions.at(-1)!.ended.aborted).toBe(false);
  });

  test('waits for nothing after an attempt that was granted, or that came too late', async () => {
    const { locks, leaves, server, mayWait, asking } = await waiting({ waits: 0 });
    mayWait(1);
    asking.late = true;
    expect(await locks.attempt(claim('a'))).toEqual({ granted: false, late: true });
    asking.late = false;
    await leaves();
    expect(await locks.attempt(claim('a'))).toMatchObject({ granted: true });
    await settled();
    await settled();
    expect(server.did.filter((what) => what.includes('waits'))).toEqual([]);
  });

  test('is not taken for gone where its wait could not be cancelled: the release fails', async () => {
    const { locks, sessions } = await waiting();
    sessions.at(-1)!.cancel = () => Promise.reject(new Error('no answer'));
    await expect(locks.release(claim('a'))).rejects.toThrow('no answer');
    expect(await locks.attempt(claim('a')), 'it may be granted yet').toEqual(refused);
  });

  test('waits only once its attempt is answered, or a late refusal of that would end the hold of the wait', async () => {
    const { locks, opensAfter, mayWait, asking, leaves, woken, server } = await waiting({ waits: 0 });
    mayWait(2);
    const [opened, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    opensAfter(opened.promise);
    const watching = locks.watch(claim('a'), (grant) => void woken.push(grant));
    await settled();
    opensAfter(Promise.resolve());
    asking.answered = answered.promise;
    const attempt = locks.attempt(claim('a'));
    await settled();
    opened.resolve();
    await watching;
    await leaves();
    answered.resolve();
    expect(await attempt).toEqual(refused);
    expect(woken).toEqual([{ ...granted, token: 2n }]);
    expect(await locks.renew([claim('a')])).toEqual([kept]);
    expect(await locks.release(claim('a'))).toEqual({ freed: true });
    expect(server.did.at(-1)).toBe('p waiter unlocks lock of key');
  });

  test('waits for nothing where all sessions are in use: it asks again', async () => {
    const { locks, leaves, woken, server } = await waiting({ waits: 0 });
    expect(server.did).toEqual([]);
    await leaves();
    expect(woken).toEqual([]);
    expect(await locks.attempt(claim('a'))).toMatchObject({ granted: true });
  });

  test('waits again by its next attempt if its wait was interrupted, and is woken to make one', async () => {
    const { locks, sessions, woken, server, leaves } = await waiting({ waits: 2 });
    await sessions.at(-1)!.cancel();
    await settled();
    await settled();
    expect(woken).toEqual([undefined]);
    expect(await locks.attempt(claim('a'))).toEqual(refused);
    expect(server.did.filter((what) => what === 'p waiter waits for lock of key')).toHaveLength(2);
    await leaves();
    expect(woken).toEqual([undefined, { ...granted, token: 2n }]);
  });

  test('of a hold there is no wait', async () => {
    const server = new Server();
    const { locks } = process(server);
    await locks.attempt(claim('a'));
    await locks.watch(claim('a'), () => {});
    expect(server.did).toEqual(['p asker takes lock of key']);
  });

  test('leaves when all is closed, and the sessions end after that', async () => {
    const { locks, server, woken } = await waiting();
    await locks.close();
    expect(server.did.slice(-2)).toEqual(['p waiter waits no longer', 'p is closed']);
    expect(woken).toEqual([]);
  });
});
