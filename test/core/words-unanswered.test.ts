/** What becomes of words that a holder leaves in the step that frees its key, where the engine does not answer. */
import { describe, expect, test } from 'vitest';
import { heard } from './heard.ts';
import { type Answer, cut, leave, leaving } from './leaving.ts';

/** It is carried out, and nobody hears of that. */
const unheard: Answer = async (ask) => {
  await ask();
  throw new Error('cut');
};

describe('a release with words that nobody answers', () => {
  test('is sent again after pauses that double, up to a second, until the next one would come after the deadline; then the key is freed', async () => {
    const { clock, take, withWords, without, claims } = leaving({ answers: [cut] });
    const lease = await take(undefined, { ttl: 5_000 }); // its deadline is at 4,948 ms
    const became = lease.releaseWith(leave, 'kept');
    let told: number | undefined;
    void became.then(() => {
      told = clock.now();
    });
    await clock.advance(10_000);
    expect(await became).toBe('unknown');
    expect(withWords).toEqual([0, 50, 150, 350, 750, 1_550, 2_550, 3_550, 4_550]);
    expect([told, without, await claims()]).toEqual([4_550, [4_550], 0]);
  });

  test('is not sent again at the deadline itself', async () => {
    const { clock, take, withWords } = leaving({ answers: [cut] });
    const lease = await take(undefined, { ttl: 1_000, renew: false }); // its deadline is at 988 ms
    await clock.advance(938);
    expect(await lease.releaseWith(leave, 'kept')).toBe('unknown');
    expect(withWords).toEqual([938]);
  });

  test('is not sent again when the process has closed', async () => {
    const { clock, closed, take, withWords } = leaving({ answers: [cut] });
    const lease = await take();
    const became = lease.releaseWith(leave, 'kept');
    await closed();
    expect(await became).toBe('unknown');
    const { length } = withWords;
    await clock.advance(10_000);
    expect(withWords).toHaveLength(length);
  });

  /** The first release is carried out, and nobody hears of that; `meanwhile` happens before the second one. */
  async function unanswered(meanwhile: (own: ReturnType<typeof leaving>) => unknown = () => {}) {
    const own = leaving({ answers: [unheard, (ask) => ask()] });
    const lease = await own.take();
    const became = lease.releaseWith(leave, 'kept');
    await own.clock.advance(1);
    await meanwhile(own);
    await own.clock.advance(49);
    return Promise.race([became, 'not told yet']);
  }
  const leaveWords = async ({ take, others }: ReturnType<typeof leaving>): Promise<void> => {
    expect(await (await take(others)).releaseWith({ ...leave, text: 'of another' }, 'kept')).toBe('stored');
  };

  test('was carried out where the words are there under its token, and that is told', async () => {
    using events = heard('left');
    const became = await unanswered();
    expect([became, events.names]).toEqual(['stored', ['left']]);
  });

  test('may have been carried out where the words of a later hold are there', async () => {
    const became = await unanswered(leaveWords);
    expect(became).toBe('unknown');
  });

  test('may have been carried out where no words are there any more', async () => {
    const became = await unanswered(({ engine }) => engine.values!.forget('key'));
    expect(became).toBe('unknown');
  });

  test('was not carried out where the words of an earlier hold are still there', async () => {
    const own = leaving({ answers: [cut, (ask) => ask()] });
    await leaveWords(own);
    const lease = await own.take();
    const became = lease.releaseWith(leave, 'kept');
    await own.clock.advance(1);
    await own.engine.evict!('key', lease.token!);
    await own.clock.advance(49);
    expect(await Promise.race([became, 'not told yet'])).toBe('gone');
  });
});
