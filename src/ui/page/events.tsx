import { Fragment } from 'preact';
import type { Event } from '../wire.ts';
import { t, time } from './language.ts';
import { elapsed, going, snapshot } from './state.ts';
import { Name } from './text.tsx';
import type { Word } from './words/en.ts';

/** The sentence for an event. */
export function wordOf({ what, end }: Event): Word {
  if (what === 'granted' || what === 'left') return what;
  if (what === 'handed') return end === 'expired' ? 'handedExpired' : end === 'evicted' ? 'handedEvicted' : 'handed';
  return end === 'evicted' ? 'evictedFrom' : (end ?? 'ended');
}

/** Shows each name in a sentence as a name. */
function Sentence({ event }: { event: Event }) {
  const parts = t(wordOf(event), { to: '\0to\0', from: '\0from\0' }).split('\0');
  return (
    <>
      {parts.map((part, i) => {
        if (i % 2 === 0) return <Fragment key={part}>{part}</Fragment>;
        return <Name key={part} text={(part === 'to' ? event.to : event.from) ?? ''} />;
      })}
    </>
  );
}

function List({ word, events, none }: { word: Word; events: readonly Event[]; none?: Word }) {
  if (events.length === 0 && !none) return null;
  return (
    <section class={`events ${word}`} aria-label={t(word)}>
      <h2>{t(word)}</h2>
      {events.length === 0 && none && <p class="soft">{t(none)}</p>}
      <ol>
        {events.map((event, i) => {
          const bad = event.end === 'expired' || event.end === 'evicted';
          return (
            <li key={i} class={`${event.what} ${bad ? 'bad' : ''}`}>
              <a {...going({ key: event.key })}>
                <Name text={event.key} />
              </a>
              <span class="ago soft">{t('ago', { ago: time(event.ago + elapsed.value) })}</span>
              <p>
                <Sentence event={event} />
                {event.held !== null && <span class="soft"> {t('after', { held: time(event.held) })}</span>}
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** The latest losses, and then all recent changes: those of a busy key push each other out within seconds. */
export function Events() {
  const now = snapshot.value;
  if (!now || now.look.age === null) return null;
  return (
    <>
      <List word="losses" events={now.losses} />
      <List word="events" events={now.events} none="noEvents" />
    </>
  );
}
