import { WIDTH } from '../model/places.ts';
import { type PersonNow, type Plan, peopleAt } from '../model/scene.ts';
import { words } from '../state.ts';
import { Padlock } from './figures.tsx';
import { Person } from './person.tsx';
import { Times } from './times.tsx';

const HEIGHT = 318;
const SIDES = [70, 290] as const;

/** Two drivers and one order above, and below what the lease of each does meanwhile. */
export function Paused({ plan, at, label }: { plan: Plan; at: number; label: string }) {
  const text = words.value;
  const people = peopleAt(plan, at);
  const past = plan.side.happenings.filter((each) => each.at <= at);
  const writes = past.filter(({ what }) => what === 'writes');
  const refused = past.find(({ what }) => what === 'refused');
  const wrong = people.find(({ doing }) => doing === 'wrong');
  const checked = plan.side.strategy === 'token';
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <g class={wrong ? 'thing wrong' : writes.length > 0 ? 'thing given' : 'thing'}>
        <rect x="96" y="2" width="168" height="100" rx="10" />
        <text class="name" x="108" y="21">
          {text.order(1)}
        </text>
        <g transform="translate(248 16)">
          <Padlock held={people.some(({ doing }) => doing === 'inside' || doing === 'paused')} />
        </g>
        <circle class="slot" cx="180" cy="50" r="18" />
        <text class="read" x="180" y="90">
          {checked && writes.length > 0 ? text.newest(writes.at(-1)!.token!) : ''}
        </text>
      </g>
      {refused && <Refused token={refused.token!} />}
      {people.map((person) => {
        const place = placeOf(person);
        return (
          <g key={person.who}>
            <Person scene="paused" person={person} place={place} />
            <text class={`does ${person.doing}`} x={place.x} y={place.y + 24}>
              {does(person)}
            </text>
          </g>
        );
      })}
      <Times plan={plan} at={at} top={198} />
    </svg>
  );
}

function does({ doing, token }: PersonNow): string {
  const text = words.value;
  if (doing === 'waiting') return text.doing.waiting;
  if (doing === 'paused') return text.stopped(token ?? '');
  if (doing === 'wrong') return text.overwritten;
  return doing === 'inside' && token !== undefined ? text.holds(token) : '';
}

function placeOf({ doing, process }: PersonNow): { x: number; y: number } {
  const x = SIDES[process]!;
  switch (doing) {
    case 'won':
      return { x: 180, y: 51 };
    case 'refused':
      return { x: 62, y: 110 };
    case 'inside':
    case 'paused':
      return { x: x < 180 ? 118 : 242, y: 122 };
    default:
      return { x, y: 156 };
  }
}

/** The write that came too late stops at the row. */
const Refused = ({ token }: { readonly token: string }) => (
  <g class="refusal">
    <path class="way" d="M64 92C66 66 74 58 86 55" />
    <path class="shield" d="M92 34v42" />
    <text x={SIDES[0]} y="136">
      {words.value.refusedToken(token)}
    </text>
  </g>
);
