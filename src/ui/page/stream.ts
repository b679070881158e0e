import { effect } from '@preact/signals';
import { paramsOf } from '../query.ts';
import type { ReleaseAnswer, ReleaseOrder, Snapshot } from '../wire.ts';
import { link, query, received, snapshot, tick } from './state.ts';

/** A server that is silent for so long is gone: it sends something every ten seconds. ms. */
const SILENCE = 25_000;
/** Typing is over after so long without a key. ms. */
const SETTLED = 150;

let source: EventSource | undefined;
let asked = '';

/** Opens the stream for this view, opens another one for another view, and closes it while the page is hidden. */
function listen(): void {
  const wanted = paramsOf(query.value).toString();
  if (document.hidden) {
    source?.close();
    source = undefined;
    return;
  }
  if (source && source.readyState !== EventSource.CLOSED && asked === wanted) return;
  source?.close();
  asked = wanted;
  const mine = new EventSource(`events?${wanted}`);
  source = mine;
  mine.onmessage = ({ data }: MessageEvent<string>) => {
    if (mine !== source) return;
    received.value = performance.now();
    tick.value = received.value;
    snapshot.value = JSON.parse(data) as Snapshot;
    link.value = 'open';
  };
  mine.onerror = () => {
    if (mine === source) link.value = 'lost';
  };
}

export function follow(): void {
  let settled: ReturnType<typeof setTimeout> | undefined;
  let first = true;
  effect(() => {
    void query.value;
    clearTimeout(settled);
    if (first) listen();
    else settled = setTimeout(listen, SETTLED);
    first = false;
  });
  document.addEventListener('visibilitychange', listen);
  setInterval(() => {
    if (document.hidden) return;
    if (performance.now() - received.value > SILENCE) link.value = 'lost';
    // A browser gives up for good on an answer that is no stream.
    if (source?.readyState === EventSource.CLOSED) listen();
  }, 2_000);
}

async function post(path: string, body: object): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

export const lookNow = (): void => void post('look', {}).catch(() => {});

export async function release(order: ReleaseOrder): Promise<ReleaseAnswer> {
  try {
    return (await (await post('release', order)).json()) as ReleaseAnswer;
  } catch (error) {
    return { error: String(error) };
  }
}
