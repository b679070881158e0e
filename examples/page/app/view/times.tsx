import type { Noted } from '../../record.ts';
import { WIDTH } from '../model/places.ts';
import type { Plan } from '../model/scene.ts';
import { words } from '../state.ts';

const LEFT = 8;
const RIGHT = WIDTH - 8;
const ROW = 56;
const BAR = 18;

/** For each process its lease, the time for which it was stopped, and its write, up to now. */
export function Times({ plan, at, top }: { plan: Plan; at: number; top: number }) {
  const text = words.value;
  const x = (ms: number): number => LEFT + ((RIGHT - LEFT) * Math.min(ms, plan.ms)) / plan.ms;
  return (
    <g class="times">
      {plan.people
        .toSorted((a, b) => a.process - b.process)
        .map(({ who, process, notes }) => (
          <g key={who} class={`process-${process}`} transform={`translate(0 ${top + process * ROW})`}>
            <text x={LEFT} y="10">
              {text.process(process)}
            </text>
            <rect class="rail" x={LEFT} y="17" width={RIGHT - LEFT} height={BAR} rx="4" />
            <Spans notes={notes} at={at} x={x} />
          </g>
        ))}
      <path class="now" d={`M${x(at)} ${top + 12}v${2 * ROW - 16}`} />
    </g>
  );
}

interface SpansProps {
  readonly notes: readonly Noted[];
  readonly at: number;
  readonly x: (ms: number) => number;
}

function Spans({ notes, at, x }: SpansProps) {
  const text = words.value;
  const time = (what: Noted['what']): number | undefined => notes.find((each) => each.what === what)?.at;
  const [enters, pauses, wakes, told] = [time('enters'), time('pauses'), time('wakes'), time('told')];
  const writes = notes.find(({ what }) => what === 'writes' || what === 'refused');
  const { ttl = 0 } = notes.find(({ what }) => what === 'enters') ?? {};
  const over = enters === undefined ? 0 : Math.min(enters + ttl, told ?? Number.POSITIVE_INFINITY);
  return (
    <>
      {enters !== undefined && at >= enters && (
        <g class="lease">
          <rect x={x(enters)} y="17" width={Math.max(3, x(Math.min(at, over)) - x(enters))} height={BAR} rx="4" />
          {x(Math.min(at, over)) - x(enters) > 60 && (
            <text x={x(enters) + 6} y="30">
              {text.lease}
            </text>
          )}
        </g>
      )}
      {pauses !== undefined && at > pauses && (
        <g class="stopped">
          <path d={`M${x(pauses)} 38H${x(Math.min(at, wakes ?? at))}`} />
          {at > over && (
            <text x={x(over) + 6} y="30">
              {text.leaseOver}
            </text>
          )}
        </g>
      )}
      {writes && at >= writes.at && (
        <circle
          class={writes.what === 'refused' ? 'write refused' : writes.at > over ? 'write late' : 'write'}
          cx={x(writes.at)}
          cy="26"
          r="6"
        />
      )}
    </>
  );
}
