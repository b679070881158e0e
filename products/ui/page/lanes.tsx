import { mostOf } from '../../../src/core/contract/extremes.ts';
import { visible } from '../../../src/core/contract/visible.ts';
import type { Lane, Span } from '../wire.ts';
import {
  chosenSpan,
  elapsed,
  going,
  number,
  query,
  show,
  snapshot,
  span,
  t,
  time,
  WINDOWS,
  writeAddress,
} from './state.ts';
import { Name } from './text.tsx';

/** The width of the picture in its own units. The page stretches the picture. */
const WIDTH = 1_000;
const COLOURS = '#4e86c6 #d08a3c #5aa37c #a77bc0 #bf9f32 #4ba3ad #b9738f #7f8aa3 #8fa83f #8d6e56'.split(' ');

/** Colours by label. Holders get colours in the order in which they appear, and keep them. */
const colours = new Map<string, string>();
function colourOf(label: string): string {
  if (!colours.has(label)) {
    if (colours.size > 1_000) colours.clear();
    colours.set(label, COLOURS[colours.size % COLOURS.length]!);
  }
  return colours.get(label)!;
}

/** The row of each hold. Overlapping holds, such as those of readers, have different rows. */
function rowsOf(spans: readonly Span[], most: number): { readonly span: Span; readonly row: number }[] {
  const ends: number[] = [];
  return [...spans]
    .sort((a, b) => b.from - a.from)
    .map((each) => {
      const free = ends.findIndex((end) => end >= each.from);
      const row = free >= 0 ? free : Math.min(ends.length, most - 1);
      ends[row] = each.to ?? Number.NEGATIVE_INFINITY;
      return { span: each, row };
    });
}

function Bar({ each, row, rows, gone }: { each: Span; row: number; rows: number; gone: number }) {
  const place = (ago: number): number => WIDTH - (ago / span.value) * WIDTH;
  const from = Math.max(0, place(each.from + gone));
  const to = each.to === null ? WIDTH : place(each.to + gone);
  if (to < 0) return null;
  const height = 24 / rows;
  const title = `${visible(each.label)} · ${t('token')} ${each.token} · ${time(each.from - (each.to ?? -gone))}`;
  const lost = each.end === 'expired' || each.end === 'evicted';
  return (
    <g>
      <rect
        class="hold"
        fill={colourOf(each.label)}
        x={from}
        y={4 + row * height}
        width={Math.max(2, to - from)}
        height={height - 1}
      >
        <title>{title}</title>
      </rect>
      {each.to !== null && (
        <rect
          class={lost ? 'loss' : 'end'}
          x={to - 1}
          y={lost ? 0 : 4}
          width={lost ? 4 : 1.5}
          height={lost ? 32 : 24}
        />
      )}
    </g>
  );
}

function One({ lane }: { lane: Lane }) {
  const now = snapshot.value!;
  const gone = elapsed.value;
  const seen = lane.spans.filter(({ to }) => to === null || to + gone < span.value);
  const placed = rowsOf(seen, 6);
  const rows =
    1 +
    mostOf(
      placed.map(({ row }) => row),
      0,
    );
  const expired = seen.filter(({ end }) => end === 'expired').length;
  const unwatched = Math.max(0, WIDTH - ((now.watched + gone) / span.value) * WIDTH);
  const [last] = lane.spans.slice(-1);
  return (
    <li>
      <div class="of">
        <a {...going({ key: lane.key })}>
          <Name text={lane.key} />
        </a>
        <span class="soft">
          {last && last.to === null ? <Name text={last.label} /> : t('nobody')}
          {lane.waiting > 0 && ` · ${t('waitingNow', { n: number(lane.waiting) })}`}
        </span>
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} 32`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${visible(lane.key)}: ${t('laneSummary', { n: number(seen.length), expired: number(expired) })}`}
      >
        <rect class="ground" x="0" y="4" width={WIDTH} height="24" />
        {unwatched > 0 && (
          <rect class="unwatched" x="0" y="4" width={unwatched} height="24">
            <title>{t('unwatched')}</title>
          </rect>
        )}
        {placed.map(({ span: each, row }) => (
          <Bar key={`${each.token} ${each.label}`} each={each} row={row} rows={rows} gone={gone} />
        ))}
      </svg>
      <button
        type="button"
        class="plain"
        title={t('unpin')}
        aria-label={`${t('unpin')}: ${visible(lane.key)}`}
        onClick={() => show({ lines: query.value.lines.filter((key) => key !== lane.key) })}
      >
        ×
      </button>
    </li>
  );
}

/** The time lines of chosen keys: the holders of each key, the hand-overs and the losses. */
export function Lanes() {
  const lanes = snapshot.value?.lanes.filter(({ key }) => query.value.lines.includes(key)) ?? [];
  if (lanes.length === 0) return null;
  return (
    <section class="lanes" aria-label={t('lanes')}>
      <header>
        <h2>{t('lanes')}</h2>
        <fieldset class="choice">
          {WINDOWS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={span.value === each}
              onClick={() => {
                chosenSpan.value = each;
                writeAddress(true);
              }}
            >
              {time(each)}
            </button>
          ))}
        </fieldset>
      </header>
      <ul>
        {lanes.map((lane) => (
          <One key={lane.key} lane={lane} />
        ))}
      </ul>
      <div class="axis soft" aria-hidden="true">
        <span>{t('ago', { ago: time(span.value) })}</span>
        <span>{t('ago', { ago: time(span.value / 2) })}</span>
        <span>{t('nowWord')}</span>
      </div>
      <p class="remark soft">{t('lanesText')}</p>
    </section>
  );
}
