import { WIDTH } from '../model/places.ts';
import { type PersonNow, type Plan, peopleAt } from '../model/scene.ts';
import { words } from '../state.ts';
import { Padlock } from './figures.tsx';
import { Person } from './person.tsx';

const HEIGHT = 330;
const SIDES = [90, 270] as const;
const HOME = 296;
const AT = 176;
const BAR = 96;

/** Two drivers, one order, and the lease of each. */
export function Paused({ plan, at, label }: { plan: Plan; at: number; label: string }) {
  const text = words.value;
  const people = peopleAt(plan, at);
  const past = plan.side.happenings.filter((each) => each.at <= at);
  const owner = people.find(({ doing }) => doing === 'won');
  const wrong = people.some(({ doing }) => doing === 'wrong');
  const writes = past.filter(({ what }) => what === 'writes');
  const refused = past.find(({ what }) => what === 'refused');
  const held = people.some((each) => each.token && leaseOf(plan, each, at).left > 0);
  const checked = plan.side.strategy === 'token';
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <g class={wrong ? 'thing wrong' : owner ? 'thing given' : 'thing'}>
        <rect x="90" y="2" width="180" height="98" rx="10" />
        <text class="name" x="102" y="21">
          {text.order(1)}
        </text>
        <g transform="translate(252 16)">
          <Padlock held={held} />
        </g>
        <circle class="slot" cx="180" cy="46" r="17" />
        <text class="read" x="180" y="84">
          {checked && writes.length > 0 ? text.newest(writes.at(-1)!.token!) : ''}
        </text>
      </g>
      {people.map((person) => (
        <g key={person.who} class={`box process-${person.process}`}>
          <rect x={SIDES[person.process]! - 82} y="262" width="164" height="62" rx="8" />
          <text x={SIDES[person.process]! - 72} y="278">
            {text.process(person.process)}
          </text>
          {person.doing === 'paused' && (
            <text class="stopped" x={SIDES[person.process]! + 72} y="278">
              {text.isPaused}
            </text>
          )}
          <Lease plan={plan} person={person} at={at} />
        </g>
      ))}
      {refused && <Refused token={refused.token!} />}
      {people.map((person) => (
        <Person key={person.who} scene="paused" person={person} place={placeOf(person)} />
      ))}
    </svg>
  );
}

function placeOf({ doing, process }: PersonNow) {
  const x = SIDES[process]!;
  if (doing === 'won') return { x: 180, y: 47 };
  if (doing === 'wrong') return { x: x < 180 ? 60 : 300, y: 116 };
  if (doing === 'home' || doing === 'lost') return { x, y: HOME };
  if (doing === 'waiting') return { x, y: AT + 44 };
  return { x, y: doing === 'refused' ? AT - 40 : AT };
}

/** How much of the lease is left, as a part of it; after that the engine gives the lock to the next. */
function leaseOf({ side }: Plan, { who }: PersonNow, at: number): { known: boolean; left: number; token: string } {
  const notes = side.happenings.filter((each) => each.who === who && each.at <= at);
  const enters = notes.find(({ what }) => what === 'enters');
  if (!enters) return { known: false, left: 0, token: '' };
  const { ttl = 1, token = '' } = enters;
  // Who is told has given the lock back, or has lost it before.
  const over = notes.find(({ what }) => what === 'told' || what === 'refused')?.at;
  return { known: true, left: over === undefined ? Math.max(0, 1 - (at - enters.at) / ttl) : 0, token };
}

function Lease({ plan, person, at }: { plan: Plan; person: PersonNow; at: number }) {
  const text = words.value;
  const { known, left, token } = leaseOf(plan, person, at);
  const answered = person.doing !== 'inside' && person.doing !== 'paused';
  if (!known || answered) return null;
  const x = SIDES[person.process]! - BAR / 2;
  return (
    <g class={left > 0 ? 'lease' : 'lease over'}>
      <text x={SIDES[person.process]!} y={AT + 26}>
        {text.token(token)}
      </text>
      <rect class="rail" x={x} y={AT + 34} width={BAR} height="7" rx="3.500" />
      <rect class="left" x={x} y={AT + 34} width={BAR * left} height="7" rx="3.500" />
      <text x={SIDES[person.process]!} y={AT + 56}>
        {left > 0 ? text.lease : text.leaseOver}
      </text>
    </g>
  );
}

/** The write that came too late, at the border of the row. */
const Refused = ({ token }: { readonly token: string }) => (
  <g class="refusal">
    <path class="way" d="M92 122L116 106" />
    <path class="shield" d="M104 92h32M120 84v32" transform="rotate(45 120 104)" />
    <text x="90" y="170">
      {words.value.refusedToken(token)}
    </text>
  </g>
);
