import { bug, inMemos, type KnownBug, onEveryEngine, scene } from './bug.ts';

const memo = (test: string) => scene('test/memo/memo.test.ts', test);
const word = (test: string) => onEveryEngine('laws/values', test);
const live = (test: string) => scene('test/memo/engines.test.ts', test);

/** Refresh tokens, caches and idempotency, built by hand on a lock. By the trackers of the projects. */
export const OF_MEMOS: readonly KnownBug[] = [
  bug(
    'neondatabase/mcp-server-neon 233',
    'two instances refreshed with the same token, and the server revoked the session',
    live('of all callers of two processes one runs, and everybody has its result'),
  ),
  bug(
    'simstudioai/sim 4722; NousResearch/hermes-agent 105314',
    'the wait for the lock was over, and the caller ran without it',
    memo('a wait has an end, in the middle of a run of another process and of this one'),
  ),
  bug(
    'clickzetta/cz-cli 103',
    'all waiters gave up at the same time, and each did the work that one of them had to do',
    memo('of all callers of all processes one runs, and everybody has its result'),
  ),
  bug(
    'nicobailon/pi-mcp-adapter 528',
    'a waiter gave up before the work could end that it waited for, and its own work ended with the limit of a wait',
    inMemos('lets the wait of a caller end while its own function runs'),
  ),
  bug(
    'OpenHikmah/openhikmah-web 595',
    'the lock ran out between the end of the work and the publication of its result, and a peer began',
    word('words left by a release answer each claim that asks for them, and no other'),
  ),
  bug(
    'OpenHikmah/openhikmah-web 595, again',
    'tokens lay readable in the cache, for the others to find',
    memo('a seal hides the result; one that throws makes nobody run again'),
  ),
  bug(
    'damianvtran/local-operator 945',
    'work that ended late wrote its result over a newer one',
    word('only a hold leaves words: no stranger, no waiter, no former holder'),
  ),
  bug(
    'apmantza/pi-lens 1674',
    'a run that settled late removed its successor from under the key',
    word('the words of a later hold take the place of those before'),
  ),
  bug(
    'aws-powertools/powertools-lambda 53',
    'a process died, its key stayed in progress, and every repetition was refused',
    live('after the death of the runner the next one runs, and no sooner than its lease is over'),
  ),
  bug(
    'aws-powertools/powertools-lambda-python 4759',
    'a key of a process that died was tried again without an end',
    inMemos('begins again what is poisoned, where no result is kept'),
  ),
  bug(
    'aws-powertools/powertools-lambda-python 8049',
    'each death let the same request begin once more, and nobody counted',
    inMemos('counts no run that ended in a death'),
  ),
  bug(
    'SandeepVashishtha/Eventra 19040',
    'a build outlived its lock of five seconds, and a second one began beside it',
    onEveryEngine('lock-laws/leases', 'renewed in the background, a hold outlives three ttls with the token it had'),
  ),
  bug(
    'omegaup/omegaup 8962',
    'every caller that missed ran the build, and the last one to end was kept',
    memo('of all callers of all processes one runs, and everybody has its result'),
  ),
  bug(
    'flyingsquirrel0419/layercache 59',
    'the builder failed, and all waiters built at once',
    word('a release without words admits the next waiter only'),
  ),
  bug(
    'symfony/symfony 63592',
    'callers waited for ever for a builder that had died',
    word('a death without words admits the next waiter only'),
  ),
  bug(
    'Suor/django-cacheops 134',
    'after the build all waiters took the lock in turn, only to read',
    word('one release with words answers every waiter, and leaves no place of any'),
  ),
  bug(
    'janos/singleflight 4',
    'one caller was cancelled, the key was freed under the others, and the work began a second time',
    memo('a run whose caller has given up goes on for those who wait, and stops when nobody does'),
  ),
  bug(
    'redis/rueidis 1014',
    'the run failed, and its waiters got the answer of a success',
    memo('an error that is kept is told to all, and nobody runs again'),
  ),
  bug(
    'huggingface/xet-core 449',
    'a caller that came while the result was handed out was never told',
    inMemos('does not ask once more when it begins to listen'),
  ),
  bug(
    'josipmusa/idempotency4j 12',
    'a key came again with another body, and got the answer to the first one',
    memo('another request under the same key is a mismatch, also while the first one runs'),
  ),
];
